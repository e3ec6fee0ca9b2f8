import type { ServerResponse } from "node:http";
import { oneStep } from "../service/work-turns.ts";
import type { HttpRequest, HttpResponse } from "./http-route.ts";
import { ClientLeft } from "./request-body.ts";

/**
 * Waits, and goes on in the turns of all clients: thousands of waits may end at once. Rejects with ClientLeft as soon as the client hangs up, so
 * that no timer outlives its request.
 */
export function waitWithClient(response: WaitingResponse, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new ClientLeft());
      return;
    }
    const onClose = () => {
      clearTimeout(timer);
      reject(new ClientLeft());
    };
    const goOn = () => {
      response.off("close", onClose);
      resolve();
    };
    const timer = setTimeout(() => void response.req.work.run(oneStep(goOn)), milliseconds);
    response.once("close", onClose);
  });
}

/** What a wait needs of the response. */
export type WaitingResponse = Pick<HttpResponse, "destroyed" | "once" | "off"> & { readonly req: Pick<HttpRequest, "work"> };

/** Waits while the client reads too slowly; to be called when `write` has returned false. Rejects with ClientLeft. */
export async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) throw new ClientLeft();
  await new Promise<void>((resolve, reject) => {
    const onClose = () => {
      response.off("drain", onDrain);
      reject(new ClientLeft());
    };
    const onDrain = () => {
      response.off("close", onClose);
      resolve();
    };
    response.once("drain", onDrain);
    response.once("close", onClose);
  });
}
