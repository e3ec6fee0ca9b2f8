import type { BinaryTopics, HeaderOf } from "../../../contract/binary.ts";
import { type ControlCall, type ControlCalls, type Topic, type Topics, topicPolicies } from "../../../contract/control.ts";
import type { Operations, ParamsOf, ResultOf } from "../../../contract/operation.ts";
import type { ServiceId } from "../../../contract/service.ts";
import type { DownFrame } from "../../../contract/wire.ts";
import { type BinaryListener, createBinarySubscriptions } from "./binary-subscriptions.ts";
import { connectionLost, FailureError, tooLarge } from "./failure-error.ts";
import { atOnce, createFrameStore, type NextFrame, type ReadableStore } from "./frame-store.ts";
import type { Connection, Transport } from "./transport.ts";

export interface Batch<Item> {
  readonly items: readonly Item[];
  /** Items since the last batch that are not in this one. */
  readonly dropped: number;
}
export type TopicListener<T extends Topic> = (batch: Batch<Topics[T]>) => void;

type Params<P> = Record<string, never> extends P ? [params?: P] : [params: P];

export interface ControlClient {
  /** Rejects with a `FailureError`. */
  call<Name extends ControlCall>(name: Name, ...params: Params<ParamsOf<ControlCalls[Name]>>): Promise<ResultOf<ControlCalls[Name]>>;
  /** `action(httpActions, "http", "sse.send", { data: "x" })`: asks a running service; `actions` is for its types only. */
  action<O extends Operations, Name extends keyof O & string>(
    actions: O,
    id: ServiceId,
    name: Name,
    ...params: Params<ParamsOf<O[Name]>>
  ): Promise<ResultOf<O[Name]>>;
  /** The newest item per key comes at once where the topic has keys; the result ends it. */
  subscribe<T extends Topic>(topic: T, listener: TopicListener<T>): () => void;
  /** `binary(rtspBinary, "rtsp", "picture", "/cam1", { item })`: binary items of one source; the result ends it. */
  binary<Topics extends BinaryTopics, Name extends keyof Topics & string>(
    topics: Topics,
    id: ServiceId,
    name: Name,
    source: string,
    listener: BinaryListener<HeaderOf<Topics[Name]>>,
  ): () => void;
  readonly connection: ReadableStore<Connection>;
  /** Runs now if the connection is open, and again after each reconnect. */
  onOpen(listener: () => void): () => void;
  retryNow(): void;
}

interface Subscription {
  readonly listeners: Set<TopicListener<Topic>>;
  /** The items that a later listener of a keyed topic gets first. */
  readonly newest: Map<string, unknown>;
}

interface Call {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

export function createControlClient({ transport, nextFrame }: { transport: Transport; nextFrame: NextFrame }): ControlClient {
  const connection = createFrameStore<Connection>({ state: "connecting" }, atOnce);
  const subscriptions = new Map<Topic, Subscription>();
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: FailureError): void }>();
  const unsent: Call[] = [];
  const openListeners = new Set<() => void>();
  const binary = createBinarySubscriptions({
    post: (frame) => void transport.post(frame),
    isOpen: () => connection.get().state === "open",
  });
  let nextId = 0;
  let generation = 0;

  function onBatch({ topic, seq, items, dropped }: DownFrame & { type: "batch" }): void {
    const subscription = subscriptions.get(topic);
    if (!subscription) return;
    const key = topicPolicies.get(topic)?.key;
    if (key) for (const item of items) subscription.newest.set(key(item as never), item);
    for (const listener of subscription.listeners) listener({ items: items as readonly never[], dropped });
    const received = generation;
    nextFrame(() => {
      if (received === generation) transport.post({ type: "ack", topic, seq });
    });
  }

  function onFrame(frame: DownFrame): void {
    switch (frame.type) {
      case "result":
        waiting.get(frame.id)?.resolve(frame.value);
        waiting.delete(frame.id);
        return;
      case "failure":
        waiting.get(frame.id)?.reject(new FailureError(frame.failure));
        waiting.delete(frame.id);
        return;
      case "batch":
        onBatch(frame);
        return;
      case "binary":
      case "binaryDropped":
      case "binaryRefused":
        binary.receive(frame);
        return;
      default:
        frame satisfies never;
    }
  }

  function onConnection(next: Connection): void {
    connection.set(next);
    generation += 1;
    switch (next.state) {
      case "connecting":
        return;
      case "open":
        for (const [topic, subscription] of subscriptions) {
          subscription.newest.clear();
          transport.post({ type: "subscribe", topic });
        }
        binary.reopen();
        for (const call of unsent.splice(0)) send(call);
        for (const listener of [...openListeners]) listener();
        return;
      case "lost":
      case "refused":
        unsent.length = 0;
        for (const call of waiting.values()) call.reject(connectionLost());
        waiting.clear();
        return;
      default:
        next satisfies never;
    }
  }

  function send(call: Call): void {
    if (transport.post({ type: "call", ...call })) return;
    waiting.get(call.id)?.reject(tooLarge());
    waiting.delete(call.id);
  }

  function call(name: string, params: unknown = {}): Promise<never> {
    const { state } = connection.get();
    if (state === "lost" || state === "refused") return Promise.reject(connectionLost());
    const id = nextId++;
    return new Promise<never>((resolve, reject) => {
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      if (state === "open") send({ id, name, params });
      else unsent.push({ id, name, params });
    });
  }

  transport.open({ onFrame, onConnection });
  return {
    call: (name, ...[params]) => call(name, params),
    action: (_actions, id, action, ...[params]) => call("service.action", { id, action, params: params ?? {} }),
    subscribe(topic, listener) {
      const known = subscriptions.get(topic);
      const subscription = known ?? { listeners: new Set(), newest: new Map() };
      const entry = listener as unknown as TopicListener<Topic>;
      subscription.listeners.add(entry);
      if (!known) {
        subscriptions.set(topic, subscription);
        if (connection.get().state === "open") transport.post({ type: "subscribe", topic });
      } else if (known.newest.size > 0) entry({ items: [...known.newest.values()] as never[], dropped: 0 });
      return () => {
        subscription.listeners.delete(entry);
        if (subscription.listeners.size > 0 || subscriptions.get(topic) !== subscription) return;
        subscriptions.delete(topic);
        if (connection.get().state === "open") transport.post({ type: "unsubscribe", topic });
      };
    },
    binary: (_topics, service, topic, source, listener) => binary.open({ service, topic, source }, listener as BinaryListener<never>),
    connection,
    onOpen(listener) {
      openListeners.add(listener);
      if (connection.get().state === "open") listener();
      return () => openListeners.delete(listener);
    },
    retryNow: () => transport.retryNow(),
  };
}
