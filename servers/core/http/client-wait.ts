import type { ServerResponse } from "node:http";
import { ClientLeft } from "./request-body.ts";

/** Waits; rejects with ClientLeft as soon as the client hangs up, so that no timer outlives its request. */
export function waitWithClient(response: ServerResponse, milliseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new ClientLeft());
      return;
    }
    const onClose = () => {
      clearTimeout(timer);
      reject(new ClientLeft());
    };
    const timer = setTimeout(() => {
      response.off("close", onClose);
      resolve();
    }, milliseconds);
    response.once("close", onClose);
  });
}

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
