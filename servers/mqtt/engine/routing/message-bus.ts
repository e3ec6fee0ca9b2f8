import type { Message } from "./message.ts";

/** Carries messages from publishers to the router, within this process. */
export interface MessageBus {
  readonly retained: RetainedStore;
  /** Returns after every listener was called. */
  publish(message: Message): void;
  /** Called for each message, in the order of publishing. */
  onMessage(listener: (message: Message) => void): void;
}

export interface RetainedStore {
  readonly count: number;
  /** Number of $SYS messages among them. */
  readonly systemCount: number;
  /** Number of topics that `isLongName`. */
  readonly longTopics: number;
  /** Bytes of the messages. */
  readonly bytes: number;
  /** Memory held, including the topics. */
  readonly heldBytes: number;
  has(topic: string): boolean;
  /** An empty payload removes the topic's retained message (MQTT §3.3.1.3). */
  store(message: Message): void;
  /** The message that gives way to a new one when there is no room for it; undefined if its client has most. */
  oldestOfLargest(newcomer?: Message): Message | undefined;
  /** Without expired messages. */
  matching(filter: string): readonly Message[];
  /** Of the message that was retained last; later ones have higher ones. */
  readonly order: number;
  /** The same one by one, without those of a higher order; undefined for each step of the search that finds none. */
  search(filter: string, upTo: number): IterableIterator<Message | undefined>;
}
