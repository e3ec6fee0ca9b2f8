import type { ServerResponse } from "node:http";
import { ClientLeft } from "../../service/client-left.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import type { HttpRequest, HttpResponse } from "../http-route.ts";
import { dropUnreadBody } from "../messages/request-body.ts";

/**
 * Waits, and goes on in the turns of all clients: thousands of waits may end at once. Rejects with ClientLeft as soon as the client hangs up, so
 * that no timer outlives its request. A body has to be read before, or is dropped.
 */
export function waitWithClient(response: WaitingResponse, milliseconds: number, work: WorkConnection = response.req.work): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new ClientLeft());
      return;
    }
    dropUnreadBody(response.req);
    const onClose = () => {
      endWait();
      reject(new ClientLeft());
    };
    const goOn = () => {
      response.off("close", onClose);
      resolve();
    };
    const endWait = work.wait(milliseconds, goOn);
    response.once("close", onClose);
  });
}

/** What a wait needs of the response. */
export type WaitingResponse = Pick<HttpResponse, "destroyed" | "once" | "off"> & { readonly req: HttpRequest };

/** Waits until the answers before it on its connection have left (RFC 9112 §9.3.2); a body that was not read is dropped. Rejects with ClientLeft. */
export async function hasTurnToAnswer(response: ServerResponse): Promise<void> {
  if (response.socket) return;
  dropUnreadBody(response.req);
  await untilClosed(response, (resolve) => {
    response.once("socket", resolve);
    return () => response.off("socket", resolve);
  });
}

/** Waits while the client reads too slowly; to be called when `write` has returned false. Rejects with ClientLeft. */
export const drained = (response: ServerResponse): Promise<void> =>
  untilClosed(response, (resolve) => {
    response.once("drain", resolve);
    return () => response.off("drain", resolve);
  });

/** Writes a piece of the answer, and waits until it has left with all before it. Rejects with ClientLeft. */
export const written = (response: ServerResponse, piece: string | Uint8Array): Promise<void> =>
  untilClosed(response, (resolve) => {
    response.write(piece, (error) => {
      if (!error) resolve();
    });
    return () => {};
  });

/** `begin` returns what ends its part. */
async function untilClosed(response: ServerResponse, begin: (resolve: () => void) => () => void): Promise<void> {
  if (response.destroyed) throw new ClientLeft();
  await new Promise<void>((resolve, reject) => {
    const onClose = () => {
      leave();
      reject(new ClientLeft());
    };
    const leave = begin(() => {
      response.off("close", onClose);
      resolve();
    });
    response.once("close", onClose);
  });
}
