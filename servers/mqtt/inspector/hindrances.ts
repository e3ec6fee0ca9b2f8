import type { MqttClient } from "../../../contract/mqtt-client.ts";
import type { Connection } from "../engine/connection.ts";

export interface Hindrances {
  of(clientId: string): MqttClient["hindered"];
  freeze(connection: Connection, forMs: number): void;
  delay(connection: Connection, delayMs: number, forMs: number): void;
  /** False where nothing hindered it. */
  release(clientId: string): boolean;
  close(): void;
}

interface Hindrance {
  readonly connection: Connection;
  readonly how: "frozen" | "delayed";
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  readonly end: () => void;
}

/** Clients that the page freezes or delays for a time, to see how they cope; who connects anew is free of it. */
export function createHindrances(): Hindrances {
  const active = new Map<string, Hindrance>();

  function begin(connection: Connection, how: Hindrance["how"], forMs: number, end: () => void) {
    const { clientId } = connection;
    release(clientId);
    const timer = setTimeout(() => release(clientId), forMs);
    active.set(clientId, { connection, how, until: Date.now() + forMs, timer, end });
  }

  function release(clientId: string): boolean {
    const hindrance = active.get(clientId);
    if (!hindrance) return false;
    active.delete(clientId);
    clearTimeout(hindrance.timer);
    hindrance.end();
    return true;
  }

  return {
    of(clientId) {
      const hindrance = active.get(clientId);
      if (hindrance?.connection.state === "closed") {
        release(clientId);
        return undefined;
      }
      return hindrance && { how: hindrance.how, until: hindrance.until };
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
