import { type BinaryItem, maxSourceLength } from "../../contract/binary.ts";
import type { ServiceId } from "../../contract/service.ts";
import type { DownFrame } from "../../contract/wire.ts";
import type { Service } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { BinaryFromService, BinaryToService } from "../core/streams/binary-publisher.ts";
import { createCreditGate } from "../core/streams/credit-gate.ts";

/** A dashboard's subscription to one source of a binary topic: sends within its credit, and counts the rest as dropped. */
export interface BinaryOutlet {
  ack(seq: number): void;
  close(): void;
}

/** Passes binary items of all services to the subscribed dashboards. It buffers none: items without credit are dropped. */
export interface BinaryHub {
  /** Throws CALL_UNKNOWN if the service declares no such topic. */
  open(wanted: BinarySource, subscription: number, post: (frame: DownFrame) => void): BinaryOutlet;
  receive(service: ServiceId, message: BinaryFromService): void;
  /** A new process of the service runs: sends it the current subscriptions. */
  started(service: ServiceId): void;
}

export interface BinarySource {
  readonly service: ServiceId;
  readonly topic: string;
  readonly source: string;
}

interface Outlet {
  deliver(item: BinaryItem, dropped: number): void;
  addDropped(count: number): void;
}

export function createBinaryHub(options: {
  readonly services: readonly Service[];
  /** Sends to the service's process, if it runs. */
  readonly post: (service: ServiceId, message: BinaryToService) => void;
}): BinaryHub {
  const { post } = options;
  const outlets = new Map<string, { readonly wanted: BinarySource; readonly set: Set<Outlet> }>();
  const keyOf = ({ service, topic, source }: BinarySource) => `${service} ${topic} ${source}`;
  const announce = ({ service, topic, source }: BinarySource, count: number) =>
    post(service, { type: "binarySubscribers", topic, source, count });

  function add(wanted: BinarySource, outlet: Outlet): () => void {
    const entry = outlets.get(keyOf(wanted)) ?? { wanted, set: new Set() };
    outlets.set(keyOf(wanted), entry);
    entry.set.add(outlet);
    announce(wanted, entry.set.size);
    return () => {
      if (!entry.set.delete(outlet)) return;
      if (entry.set.size === 0) outlets.delete(keyOf(wanted));
      announce(wanted, entry.set.size);
    };
  }

  return {
    open(wanted, subscription, postFrame) {
      const topics = options.services.find(({ id }) => id === wanted.service)?.binary;
      const topic = topics && Object.hasOwn(topics, wanted.topic) ? topics[wanted.topic] : undefined;
      if (!topic || wanted.source.length > maxSourceLength) {
        throw new ServiceError(
          "CALL_UNKNOWN",
          `${wanted.service} has no binary topic "${wanted.topic}"`,
          "Reload the dashboard: it may be older than the service.",
        );
      }
      const gate = createCreditGate(topic.policy);
      function sendDropped() {
        const dropped = gate.takeDropped();
        if (dropped > 0) postFrame({ type: "binaryDropped", subscription, dropped });
      }
      const close = add(wanted, {
        deliver(item, dropped) {
          gate.addDropped(dropped);
          const admission = gate.admit(item.payload.byteLength, item.isKey);
          if (admission) postFrame({ type: "binary", subscription, ...admission, ...item });
        },
        addDropped(count) {
          gate.addDropped(count);
          sendDropped();
        },
      });
      return {
        ack(seq) {
          gate.ack(seq);
          sendDropped();
        },
        close,
      };
    },
    receive(service, message) {
      const { topic, source } = message;
      const set = outlets.get(keyOf({ service, topic, source }))?.set ?? [];
      switch (message.type) {
        case "binary":
          // Acknowledged before the dashboards have received it: each dashboard's own credit bounds what is queued for it.
          post(service, { type: "binaryAck", topic, source, seq: message.seq });
          for (const outlet of set) outlet.deliver(message.item, message.dropped);
          return;
        case "binaryDropped":
          for (const outlet of set) outlet.addDropped(message.dropped);
          return;
        default:
          message satisfies never;
      }
    },
    started(service) {
      for (const { wanted, set } of outlets.values()) if (wanted.service === service) announce(wanted, set.size);
    },
  };
}
