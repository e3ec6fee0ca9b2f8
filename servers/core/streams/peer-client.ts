import type { Operations, ParamsOf, ResultOf } from "../../../contract/operation.ts";
import type { Provided, ProvidedStreams, StreamCredit, StreamHeaderOf, StreamItem } from "../../../contract/provided.ts";
import { errorOfFailure, ServiceError } from "../service/service-error.ts";
import { bytesOf, type ConsumerMessage, type ToConsumer } from "./peer-messages.ts";

/** The other services, by what they declare in the contract. */
export interface PeerServices {
  /** Rejects with SERVICE_NOT_RUNNING if the other service is stopped or ends meanwhile, or with its error. */
  call<Calls extends Operations, Name extends keyof Calls & string>(
    provider: Provided<Calls>,
    name: Name,
    params: ParamsOf<Calls[Name]>,
  ): Promise<ResultOf<Calls[Name]>>;
  /** The stream's first item, or its failure, comes with the first read. */
  open<Streams extends ProvidedStreams, Name extends keyof Streams & string>(
    provider: Provided<Operations, Streams>,
    name: Name,
    params: ParamsOf<Streams[Name]>,
    credit?: StreamCredit,
  ): IncomingStream<StreamHeaderOf<Streams[Name]>>;
}

/** Read by one reader: `for await (const { header, payload } of stream)`; leaving the loop cancels it. */
export interface IncomingStream<Header = unknown> extends AsyncIterable<StreamItem<Header>> {
  /** Notifies the sender, which stops; a pending read ends. */
  cancel(): void;
}

export interface PeerClient {
  readonly services: PeerServices;
  receive(message: ToConsumer): void;
}

const defaultCredit: StreamCredit = { items: 256, bytes: 1 << 20 };

export function createPeerClient(post: (message: ConsumerMessage) => void): PeerClient {
  const calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const streams = new Map<number, OpenStream>();
  let lastId = 0;

  return {
    services: {
      call: (provider, name, params) =>
        new Promise((resolve, reject) => {
          const id = ++lastId;
          calls.set(id, { resolve: resolve as (value: unknown) => void, reject });
          post({ type: "peerCall", id, service: provider.service, name, params });
        }),
      open(provider, name, params, credit = defaultCredit) {
        const id = ++lastId;
        const stream = createOpenStream(credit, {
          taken: (taken) => post({ type: "peerTaken", id, credit: taken }),
          cancel() {
            if (streams.delete(id)) post({ type: "peerCancel", id });
          },
        });
        streams.set(id, stream);
        post({ type: "peerOpen", id, service: provider.service, name, params, credit });
        return stream.incoming as never;
      },
    },
    receive(message) {
      switch (message.type) {
        case "peerResult":
          calls.get(message.id)?.resolve(message.value);
          calls.delete(message.id);
          return;
        case "peerItem":
          streams.get(message.id)?.push(message.item);
          return;
        case "peerEnd": {
          const error = message.failure && errorOfFailure(message.failure);
          if (error) calls.get(message.id)?.reject(error);
          calls.delete(message.id);
          streams.get(message.id)?.end(error);
          streams.delete(message.id);
          return;
        }
        default:
          message satisfies never;
      }
    },
  };
}

/** For a service that runs without a supervisor, as in a test of its own. */
export const noPeers: PeerServices = {
  call: (provider) => Promise.reject(noPeer(provider)),
  open: (provider) => ({
    cancel() {},
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(noPeer(provider)) }),
  }),
};
const noPeer = ({ service }: Provided) => new ServiceError("SERVICE_NOT_RUNNING", `${service} is not running`, "Start it first.");

interface OpenStream {
  readonly incoming: IncomingStream;
  push(item: StreamItem): void;
  end(error: Error | undefined): void;
}

function createOpenStream(credit: StreamCredit, events: { taken(credit: StreamCredit): void; cancel(): void }): OpenStream {
  const queue: StreamItem[] = [];
  let taken = { items: 0, bytes: 0 };
  let ended: { readonly error: Error | undefined } | undefined;
  let wake = () => {};

  function cancel() {
    queue.length = 0;
    ended ??= { error: undefined };
    events.cancel();
    wake();
  }
  /** Credit is returned in halves of the window, not after each item: fewer messages, and the sender stays busy. */
  function take(item: StreamItem) {
    taken = { items: taken.items + 1, bytes: taken.bytes + bytesOf(item) };
    if (ended || (queue.length > 0 && taken.items < credit.items / 2 && taken.bytes < credit.bytes / 2)) return;
    events.taken(taken);
    taken = { items: 0, bytes: 0 };
  }
  async function next(): Promise<IteratorResult<StreamItem>> {
    for (;;) {
      const item = queue.shift();
      if (item) {
        take(item);
        return { done: false, value: item };
      }
      if (ended?.error) throw ended.error;
      if (ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return {
    incoming: {
      cancel,
      [Symbol.asyncIterator]: () => ({
        next,
        async return() {
          cancel();
          return { done: true, value: undefined };
        },
      }),
    },
    push(item) {
      queue.push(item);
      wake();
    },
    end(error) {
      ended ??= { error };
      wake();
    },
  };
}
