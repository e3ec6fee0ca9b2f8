import type { MqttClient } from "../../../contract/services/mqtt-client.ts";

/** A connection that can be frozen or delayed; both methods return a function that ends the fault. */
export interface Impairable {
  readonly clientId: string;
  readonly state: string;
  freeze(): () => void;
  delay(delayMs: number): () => void;
}

export interface ClientFaults {
  readonly areActive: boolean;
  of(clientId: string): MqttClient["activeFault"];
  freeze(connection: Impairable, forMs: number): void;
  delay(connection: Impairable, delayMs: number, forMs: number): void;
  /** False if it was neither frozen nor delayed. */
  release(clientId: string): boolean;
  close(): void;
}

interface ClientFault {
  readonly connection: Impairable;
  readonly how: "frozen" | "delayed";
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  readonly end: () => void;
}

/** Clients that the page freezes or delays for a time, for tests. The fault ends when the client reconnects. */
export function createClientFaults(): ClientFaults {
  const active = new Map<string, ClientFault>();

  function begin(connection: Impairable, how: ClientFault["how"], forMs: number, start: () => () => void) {
    const { clientId } = connection;
    release(clientId);
    const end = start();
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
    get areActive() {
      return active.size > 0;
    },
    of(clientId) {
      const fault = active.get(clientId);
      if (fault?.connection.state === "closed") {
        release(clientId);
        return undefined;
      }
      return fault && { how: fault.how, until: fault.until };
    },
    freeze: (connection, forMs) => begin(connection, "frozen", forMs, () => connection.freeze()),
    delay: (connection, delayMs, forMs) => begin(connection, "delayed", forMs, () => connection.delay(delayMs)),
    release,
    close() {
      for (const clientId of [...active.keys()]) release(clientId);
    },
  };
}
