import type { MqttClient } from "../../../contract/services/mqtt-client.ts";
import type { Connection } from "../engine/connection/connection.ts";

export interface ClientFaults {
  of(clientId: string): MqttClient["hindered"];
  freeze(connection: Connection, forMs: number): void;
  delay(connection: Connection, delayMs: number, forMs: number): void;
  /** False where nothing hindered it. */
  release(clientId: string): boolean;
  close(): void;
}

interface ClientFault {
  readonly connection: Connection;
  readonly how: "frozen" | "delayed";
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  readonly end: () => void;
}

/** Clients that the page freezes or delays for a time, to see how they cope; who connects anew is free of it. */
export function createClientFaults(): ClientFaults {
  const active = new Map<string, ClientFault>();

  function begin(connection: Connection, how: ClientFault["how"], forMs: number, end: () => void) {
    const { clientId } = connection;
    release(clientId);
    const timer = setTimeout(() => release(clientId), forMs);
    active.set(clientId, { connection, how, until: Date.now() + forMs, timer, end });
  }

  function release(clientId: string): boolean {
    const fault = active.get(clientId);
    if (!fault) return false;
    active.delete(clientId);
    clearTimeout(fault.timer);
    fault.end();
    return true;
  }

  return {
    of(clientId) {
      const fault = active.get(clientId);
      if (fault?.connection.state === "closed") {
        release(clientId);
        return undefined;
      }
      return fault && { how: fault.how, until: fault.until };
    },
    freeze: (connection, forMs) => begin(connection, "frozen", forMs, connection.freeze()),
    delay(connection, delayMs, forMs) {
      begin(connection, "delayed", forMs, () => connection.output.delay(0));
      connection.output.delay(delayMs);
    },
    release,
    close() {
      for (const clientId of [...active.keys()]) release(clientId);
    },
  };
}
