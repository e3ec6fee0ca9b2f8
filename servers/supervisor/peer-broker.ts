import type { Failure, ServiceId } from "../../contract/service.ts";
import { ServiceError, toFailure } from "../core/service/service-error.ts";
import type { ConsumerMessage, ProviderMessage, ToConsumer, ToProvider } from "../core/streams/peer-messages.ts";

/** A service as the broker needs it. */
export interface Peer {
  readonly title: string;
  readonly isRunning: boolean;
  postStream(message: ToConsumer | ToProvider): void;
}

/** Passes calls and streams from one service's process to another's. The reader's credit bounds what is in flight, so nothing is buffered. */
export interface PeerBroker {
  fromConsumer(consumer: ServiceId, message: ConsumerMessage): void;
  fromProvider(provider: ServiceId, message: ProviderMessage): void;
  /** The process ended: calls and streams that it served fail, those that it had opened are cancelled. */
  gone(id: ServiceId, crashed: boolean): void;
}

interface Exchange {
  /** The broker's id, which the provider uses. */
  readonly id: number;
  readonly consumer: ServiceId;
  readonly consumerId: number;
  readonly provider: ServiceId;
}

export function createPeerBroker(find: (id: ServiceId) => Peer | undefined): PeerBroker {
  const exchanges = new Map<number, Exchange>();
  /** Per consumer: maps its ids to the broker's. */
  const byConsumer = new Map<ServiceId, Map<number, Exchange>>();
  let lastId = 0;

  function begin(consumer: ServiceId, consumerId: number, provider: ServiceId): Exchange {
    const exchange = { id: ++lastId, consumer, consumerId, provider };
    exchanges.set(exchange.id, exchange);
    const own = byConsumer.get(consumer) ?? new Map<number, Exchange>();
    byConsumer.set(consumer, own.set(consumerId, exchange));
    return exchange;
  }
  function forget({ id, consumer, consumerId }: Exchange) {
    exchanges.delete(id);
    byConsumer.get(consumer)?.delete(consumerId);
  }
  function fail(consumer: ServiceId, consumerId: number, failure: Failure) {
    find(consumer)?.postStream({ type: "peerEnd", id: consumerId, failure });
  }

  return {
    fromConsumer(consumer, message) {
      const known = byConsumer.get(consumer)?.get(message.id);
      switch (message.type) {
        case "peerCall":
        case "peerOpen": {
          const provider = find(message.service);
          if (!provider?.isRunning) {
            fail(consumer, message.id, toFailure(notRunning(provider?.title ?? message.service)));
            return;
          }
          const { id } = begin(consumer, message.id, message.service);
          const { name, params } = message;
          if (message.type === "peerCall") provider.postStream({ type: "serveCall", id, consumer, name, params });
          else provider.postStream({ type: "serveOpen", id, consumer, name, params, credit: message.credit });
          return;
        }
        case "peerTaken":
          if (known) find(known.provider)?.postStream({ type: "serveTaken", id: known.id, credit: message.credit });
          return;
        case "peerCancel":
          if (!known) return;
          find(known.provider)?.postStream({ type: "serveCancel", id: known.id });
          forget(known);
          return;
        default:
          message satisfies never;
      }
    },
    fromProvider(provider, message) {
      const exchange = exchanges.get(message.id);
      // Cancelled while it was in flight.
      if (exchange?.provider !== provider) return;
      const consumer = find(exchange.consumer);
      const id = exchange.consumerId;
      switch (message.type) {
        case "servedItem":
          consumer?.postStream({ type: "peerItem", id, item: message.item });
          return;
        case "servedResult":
          consumer?.postStream({ type: "peerResult", id, value: message.value });
          forget(exchange);
          return;
        case "servedEnd":
          consumer?.postStream({ type: "peerEnd", id, ...(message.failure && { failure: message.failure }) });
          forget(exchange);
          return;
        default:
          message satisfies never;
      }
    },
    gone(id, crashed) {
      for (const exchange of [...exchanges.values()]) {
        if (exchange.consumer === id) {
          find(exchange.provider)?.postStream({ type: "serveCancel", id: exchange.id });
          forget(exchange);
        } else if (exchange.provider === id) {
          fail(exchange.consumer, exchange.consumerId, toFailure(ended(find(id)?.title ?? id, crashed)));
          forget(exchange);
        }
      }
    },
  };
}

const notRunning = (title: string) => new ServiceError("SERVICE_NOT_RUNNING", `${title} is not running`, "Start it first.");

const ended = (title: string, crashed: boolean) =>
  new ServiceError("SERVICE_NOT_RUNNING", `${title} ${crashed ? "crashed" : "was stopped"}`, "Try again once it runs.");
