import type { Handlers, Operations, ParsedParamsOf } from "../../../contract/operation.ts";
import type { Provided, ProvidedStreams, StreamCredit, StreamHeaderOf } from "../../../contract/provided.ts";
import type { ServiceId } from "../../../contract/service.ts";
import { parseParams } from "../service/parse-params.ts";
import { ServiceError, toFailure } from "../service/service-error.ts";
import { ownBytes } from "./binary-publisher.ts";
import { bytesOf, type ProviderMessage, type ToProvider } from "./peer-messages.ts";
import { StreamsInFlight } from "./streams-in-flight.ts";

/** The sending end of a stream that another service opened. */
export interface OutgoingStream<Header = unknown> {
  readonly consumer: ServiceId;
  /** Aborted when the consumer cancels or ends, and when this service stops. */
  readonly signal: AbortSignal;
  /** False if there is no credit, or too much is in flight to the consumer: the caller drops or keeps the item. */
  trySend(header: Header, payload?: Uint8Array): boolean;
  /** Waits until the item can be sent; one at a time. Rejects once `signal` is aborted. */
  send(header: Header, payload?: Uint8Array): Promise<void>;
}

export interface ProvidedHandlers<Calls extends Operations = Operations, Streams extends ProvidedStreams = ProvidedStreams> {
  readonly calls: Handlers<Calls>;
  /** The stream ends when its handler returns, and fails with what it throws. */
  readonly streams: {
    readonly [Name in keyof Streams]: (
      params: ParsedParamsOf<Streams[Name]>,
      stream: OutgoingStream<StreamHeaderOf<Streams[Name]>>,
    ) => void | Promise<void>;
  };
}

export interface PeerProvider {
  receive(message: ToProvider): void;
  /** Aborts every stream; the supervisor reports the reason to their readers. */
  close(): void;
}

interface SentStream {
  readonly abort: AbortController;
  give(credit: StreamCredit): void;
}

export function createPeerProvider(options: {
  readonly declared: Provided | undefined;
  /** Undefined until the service has registered them. */
  readonly handlers: () => ProvidedHandlers | undefined;
  readonly post: (message: ProviderMessage) => void;
}): PeerProvider {
  const { declared, post } = options;
  const streams = new Map<number, SentStream>();
  const inFlight = new Map<ServiceId, StreamsInFlight>();
  let closed = false;

  const isOwn = (names: object | undefined, name: string) => names !== undefined && Object.hasOwn(names, name);
  const unknown = (name: string) =>
    new ServiceError("CALL_UNKNOWN", `${declared?.service ?? "The service"} does not provide "${name}"`, "Both must be of one version.");

  async function answer(message: Extract<ToProvider, { type: "serveCall" }>) {
    const { id, name } = message;
    try {
      const operation = isOwn(declared?.calls, name) ? declared?.calls[name] : undefined;
      const handler = options.handlers()?.calls[name];
      if (!operation || !handler) throw unknown(name);
      post({ type: "servedResult", id, value: (await handler(parseParams(operation.params, message.params, name) as never)) ?? null });
    } catch (error) {
      post({ type: "servedEnd", id, failure: toFailure(error) });
    }
  }

  async function serve(message: Extract<ToProvider, { type: "serveOpen" }>) {
    const { id, name, consumer } = message;
    const abort = new AbortController();
    const credit = { ...message.credit };
    const full = { ...message.credit };
    let wake = () => {};
    const ofConsumer = inFlight.get(consumer) ?? new StreamsInFlight();
    inFlight.set(consumer, ofConsumer);
    const flight = ofConsumer.open(() => wake());
    streams.set(id, {
      abort,
      give(taken) {
        credit.items += taken.items;
        credit.bytes += taken.bytes;
        flight.taken(taken.items, taken.bytes);
      },
    });
    abort.signal.addEventListener("abort", () => wake());
    function trySend(header: unknown, payload?: Uint8Array): boolean {
      if (abort.signal.aborted) return false;
      const bytes = payload?.byteLength ?? 0;
      // An item larger than the whole credit is sent when nothing else is in flight.
      const fits = bytes <= credit.bytes || (credit.items === full.items && credit.bytes === full.bytes);
      if (credit.items < 1 || !fits || !flight.trySend(bytes)) return false;
      const item = { header, ...(payload && { payload: ownBytes(payload) }) };
      credit.items -= 1;
      credit.bytes -= bytesOf(item);
      post({ type: "servedItem", id, item });
      return true;
    }
    const stream: OutgoingStream = {
      consumer,
      signal: abort.signal,
      trySend,
      async send(header, payload) {
        while (!trySend(header, payload)) {
          abort.signal.throwIfAborted();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
    };
    try {
      const operation = isOwn(declared?.streams, name) ? declared?.streams[name] : undefined;
      const handler = options.handlers()?.streams[name];
      if (!operation || !handler) throw unknown(name);
      await handler(parseParams(operation.params, message.params, name) as never, stream);
      if (!abort.signal.aborted) post({ type: "servedEnd", id });
    } catch (error) {
      if (!abort.signal.aborted) post({ type: "servedEnd", id, failure: toFailure(error) });
    } finally {
      streams.delete(id);
      abort.abort();
      flight.close();
      if (ofConsumer.isEmpty) inFlight.delete(consumer);
    }
  }

  return {
    receive(message) {
      if (closed) return;
      switch (message.type) {
        case "serveCall":
          void answer(message);
          return;
        case "serveOpen":
          void serve(message);
          return;
        case "serveTaken":
          streams.get(message.id)?.give(message.credit);
          return;
        case "serveCancel":
          streams.get(message.id)?.abort.abort();
          return;
        default:
          message satisfies never;
      }
    },
    close() {
      closed = true;
      for (const { abort } of streams.values()) abort.abort();
    },
  };
}
