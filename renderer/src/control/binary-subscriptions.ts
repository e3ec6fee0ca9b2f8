import type { BinaryItem } from "../../../contract/binary.ts";
import type { Failure, ServiceId } from "../../../contract/service.ts";
import type { BinaryFrame, DownFrame, UpFrame } from "../../../contract/wire.ts";

export interface BinaryListener<Header> {
  /** The item is acknowledged when this returns, or when the returned promise settles: until then it counts against the window. */
  item(item: BinaryItem<Header>): void | Promise<void>;
  /** Number of items that were dropped since the last item or count. */
  dropped?(count: number): void;
  /** The subscription failed: the service or the topic is unknown. */
  refused?(failure: Failure): void;
}

export interface BinarySubscriptions {
  open(wanted: { service: ServiceId; topic: string; source: string }, listener: BinaryListener<never>): () => void;
  receive(frame: Extract<DownFrame, { type: "binary" | "binaryDropped" | "binaryRefused" }>): void;
  /** A new connection has no subscriptions yet. */
  reopen(): void;
}

export function createBinarySubscriptions(options: {
  readonly post: (frame: UpFrame) => void;
  readonly isOpen: () => boolean;
}): BinarySubscriptions {
  interface Subscription {
    /** Changes with each connection: acknowledgements for items of an earlier connection are ignored. */
    id: number;
    readonly wanted: { service: ServiceId; topic: string; source: string };
    readonly listener: BinaryListener<unknown>;
    /** All items up to this one were consumed; `taken` has the consumed ones after it. */
    acked: number;
    readonly taken: Set<number>;
  }
  const subscriptions = new Map<number, Subscription>();
  let lastId = 0;

  function subscribe(subscription: Subscription) {
    subscriptions.set(subscription.id, subscription);
    options.post({ type: "binarySubscribe", subscription: subscription.id, ...subscription.wanted });
  }

  /** An item may be consumed before an older one. */
  function take(subscription: Subscription, seq: number) {
    const before = subscription.acked;
    subscription.taken.add(seq);
    while (subscription.taken.delete(subscription.acked + 1)) subscription.acked += 1;
    if (subscription.acked > before) options.post({ type: "binaryAck", subscription: subscription.id, seq: subscription.acked });
  }

  async function deliver(subscription: Subscription, { subscription: id, seq, dropped, header, payload, isKey }: BinaryFrame) {
    if (dropped > 0) subscription.listener.dropped?.(dropped);
    try {
      await subscription.listener.item({ header, payload, isKey });
    } finally {
      if (subscriptions.get(id) === subscription) take(subscription, seq);
    }
  }

  return {
    open(wanted, listener) {
      const subscription = { id: ++lastId, wanted, listener: listener as BinaryListener<unknown>, acked: 0, taken: new Set<number>() };
      if (options.isOpen()) subscribe(subscription);
      else subscriptions.set(subscription.id, subscription);
      return () => {
        if (subscriptions.delete(subscription.id) && options.isOpen())
          options.post({ type: "binaryUnsubscribe", subscription: subscription.id });
      };
    },
    receive(frame) {
      const subscription = subscriptions.get(frame.subscription);
      if (!subscription) return;
      switch (frame.type) {
        case "binary":
          void deliver(subscription, frame);
          return;
        case "binaryDropped":
          subscription.listener.dropped?.(frame.dropped);
          return;
        case "binaryRefused":
          subscription.listener.refused?.(frame.failure);
          return;
        default:
          frame satisfies never;
      }
    },
    reopen() {
      const before = [...subscriptions.values()];
      subscriptions.clear();
      for (const subscription of before) {
        subscription.id = ++lastId;
        subscription.acked = 0;
        subscription.taken.clear();
        subscribe(subscription);
      }
    },
  };
}
