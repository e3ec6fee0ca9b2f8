import type { BinaryItem, BinaryTopics, HeaderOf } from "../../../contract/binary.ts";
import { type CreditGate, createCreditGate } from "./credit-gate.ts";

export type BinaryToService =
  /** Number of pages that subscribe to the source; 0 ends it. */
  | { readonly type: "binarySubscribers"; readonly topic: string; readonly source: string; readonly count: number }
  | { readonly type: "binaryAck"; readonly topic: string; readonly source: string; readonly seq: number };

export type BinaryFromService =
  | {
      readonly type: "binary";
      readonly topic: string;
      readonly source: string;
      readonly seq: number;
      /** Items since the last one that were dropped on the way to the supervisor. */
      readonly dropped: number;
      readonly item: BinaryItem;
    }
  | { readonly type: "binaryDropped"; readonly topic: string; readonly source: string; readonly dropped: number };

/** One binary topic of the service. Nothing is sent for a source without subscribers. */
export interface BinaryPublisher<Header = unknown> {
  isWanted(source: string): boolean;
  /** Called when the number of subscribers changes; a new one may need a key item soon. */
  onSubscribers(listener: (source: string, count: number) => void): void;
  /** Never waits: an item that does not fit is dropped and counted. */
  publish(source: string, item: { readonly header: Header; readonly payload: Uint8Array; readonly isKey?: boolean }): void;
}

export interface BinaryPublishers<Topics extends BinaryTopics = BinaryTopics> {
  topic<Name extends keyof Topics & string>(name: Name): BinaryPublisher<HeaderOf<Topics[Name]>>;
  receive(message: BinaryToService): void;
}

export function createBinaryPublishers(options: {
  readonly topics: BinaryTopics;
  readonly post: (message: BinaryFromService) => void;
}): BinaryPublishers {
  const { topics, post } = options;
  /** Gates of the sources with subscribers, by topic. */
  const gates = new Map<string, Map<string, CreditGate>>(Object.keys(topics).map((name) => [name, new Map()]));
  const listeners = new Map<string, Set<(source: string, count: number) => void>>();

  return {
    topic: (name) => ({
      isWanted: (source) => gates.get(name)?.has(source) === true,
      onSubscribers(listener) {
        const set = listeners.get(name) ?? new Set();
        listeners.set(name, set.add(listener));
        const known = gates.get(name)?.keys() ?? [];
        for (const source of known) listener(source, 1);
      },
      publish(source, { header, payload, isKey = false }) {
        const admission = gates.get(name)?.get(source)?.admit(payload.byteLength, isKey);
        if (admission) post({ type: "binary", topic: name, source, ...admission, item: { header, payload: ownBytes(payload), isKey } });
      },
    }),
    receive(message) {
      const { topic, source } = message;
      const wanted = gates.get(topic);
      const declared = topics[topic];
      if (!wanted || !declared) return;
      switch (message.type) {
        case "binarySubscribers":
          if (message.count === 0) wanted.delete(source);
          else if (!wanted.has(source)) wanted.set(source, createCreditGate(declared.policy));
          for (const listener of listeners.get(topic) ?? []) listener(source, message.count);
          return;
        case "binaryAck": {
          const gate = wanted.get(source);
          gate?.ack(message.seq);
          const dropped = gate?.takeDropped() ?? 0;
          if (dropped > 0) post({ type: "binaryDropped", topic, source, dropped });
          return;
        }
        default:
          message satisfies never;
      }
    },
  };
}

/** Copies a view into a larger buffer, such as one read from a socket, which would be sent as a whole. */
export const ownBytes = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes));
