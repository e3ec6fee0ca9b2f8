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

/** Writes a chunk and waits for "drain" while the client reads too slowly. */
export async function writeToClient(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  if (response.destroyed) throw new ClientLeft();
  if (response.write(chunk)) return;
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
