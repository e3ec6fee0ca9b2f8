import { reasonCode } from "../codec/reason-code.ts";
import type { Connection } from "../engine/connection/connection.ts";
import type { Engine } from "../engine/engine.ts";

/** A fault of ours costs the one client its connection, and never the broker. */
export function receiveSafely(engine: Engine, connection: Connection, chunk: Buffer): void {
  try {
    connection.receive(chunk);
  } catch (error) {
    engine.log.error(`A fault while serving ${connection.clientId || connection.origin.peer}: ${(error as Error).stack ?? String(error)}`);
    connection.disconnect(reasonCode.unspecifiedError, "A fault in the broker.");
  }
}
