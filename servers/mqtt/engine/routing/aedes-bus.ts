import { Aedes, type AedesOptions } from "aedes";
import type { RetainedTree } from "../retained/retained-tree.ts";
import type { SessionStore } from "../session/session-store.ts";
import { steadyNow } from "../steady-clock.ts";
import type { Message } from "./message.ts";
import type { MessageBus, RetainedStore } from "./message-bus.ts";
import { MessageEmitter } from "./message-emitter.ts";

export interface AedesBus extends MessageBus {
  close(): Promise<void>;
}

/**
 * The bus of an Aedes instance in this process. Aedes' client handlers are not used, nor is its `publish`: it awaits a promise for
 * retained and QoS 1 messages only, which would change the order of messages ([MQTT-4.6.0-6]).
 */
export async function createAedesBus(options: { retained: RetainedTree; store?: SessionStore | undefined }): Promise<AedesBus> {
  const retained = createRetainedStore(options.retained, options.store);
  const mq = new MessageEmitter();
  const broker = await Aedes.createBroker({ mq, persistence: persistenceOf(options.retained, retained) } as AedesOptions);
  return {
    retained,
    publish: (message) => mq.publish(message),
    onMessage: (listener) => mq.onMessage(listener),
    close: () => new Promise((resolve) => broker.close(resolve)),
  };
}

function createRetainedStore(tree: RetainedTree, store: SessionStore | undefined): RetainedStore {
  /** Removes expired messages when they are found. */
  function* living(found: Iterable<Message | undefined>): IterableIterator<Message | undefined> {
    for (const message of found) {
      const isExpired = message?.secondsLeft(steadyNow()) === 0;
      if (message && isExpired) {
        tree.delete(message.topic);
        store?.retainedExpired(message);
      }
      yield isExpired ? undefined : message;
    }
  }
  return {
    get count() {
      return tree.count;
    },
    get systemCount() {
      return tree.systemCount;
    },
    get longTopics() {
      return tree.longTopics;
    },
    get bytes() {
      return tree.bytes;
    },
    get heldBytes() {
      return tree.heldBytes;
    },
    has: (topic) => tree.get(topic) !== undefined,
    store(message) {
      if (message.payload.length > 0) {
        tree.set(message);
        store?.retained(message);
      } else if (tree.delete(message.topic)) store?.retainedRemoved(message.topic);
    },
    oldestOfLargest: (newcomer) => tree.oldestOfLargest(newcomer),
    matching: (filter) => [...living(tree.search(filter))].filter((message) => message !== undefined),
    get order() {
      return tree.order;
    },
    search: (filter, upTo) => living(tree.search(filter, upTo)),
  };
}

/** The persistence that Aedes requires: retained messages only; the engine has the sessions and their queues. */
function persistenceOf(tree: RetainedTree, retained: RetainedStore) {
  return {
    async setup() {},
    async storeRetained(message: Message) {
      retained.store(message);
    },
    createRetainedStream: (filter: string) => tree.matching(filter),
    createRetainedStreamCombi: (filters: readonly string[]) => filters.flatMap((filter) => tree.matching(filter)),
    async subscriptionsByTopic() {
      return [];
    },
    async outgoingEnqueueCombi() {},
    async *streamWill() {},
    async delWill() {},
    async destroy() {},
  };
}
