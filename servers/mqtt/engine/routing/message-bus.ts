import type { Message } from "./message.ts";

/** Carries messages from publishers to the router, within this process. */
export interface MessageBus {
  readonly retained: RetainedStore;
  /** Returns when every listener has had it. */
  publish(message: Message): void;
  /** Called for each message, in the order of publishing. */
  onMessage(listener: (message: Message) => void): void;
}

export interface RetainedStore {
  readonly count: number;
  /** Number of $SYS messages among them. */
  readonly systemCount: number;
  /** Of the messages. */
  readonly bytes: number;
  /** In memory, with what their topics take. */
  readonly heldBytes: number;
  has(topic: string): boolean;
  /** An empty payload removes what was kept (MQTT §3.3.1.3). */
  store(message: Message): void;
  /** Expired ones are left out. */
  matching(filter: string): readonly Message[];
}
