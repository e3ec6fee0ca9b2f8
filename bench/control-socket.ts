import { WebSocket } from "ws";
import type { ControlCall, ControlCalls, Topic } from "../contract/control.ts";
import type { ParamsOf, ResultOf } from "../contract/operation.ts";
import { controlProtocol, type DownFrame, linkFragment, tokenProtocol, type UpFrame } from "../contract/wire.ts";

export type Batch = Extract<DownFrame, { type: "batch" }>;

/** A dashboard without a page: the frames of contract/wire.ts over the program's WebSocket. */
export interface ControlSocket {
  call<Name extends ControlCall>(name: Name, params: ParamsOf<ControlCalls[Name]>): Promise<ResultOf<ControlCalls[Name]>>;
  /** Each batch is acknowledged once the listener has returned. */
  subscribe(topic: Topic, listener: (batch: Batch) => void): void;
  close(): void;
}

/** `dashboardUrl` is what the program printed, with the token in its fragment. */
export async function openControlSocket(dashboardUrl: string): Promise<ControlSocket> {
  const { origin, host, hash } = new URL(dashboardUrl);
  const protocols = [controlProtocol, tokenProtocol(hash.slice(linkFragment.length))];
  const socket = new WebSocket(`ws://${host}/control`, protocols, { origin, perMessageDeflate: false });
  const listeners = new Map<Topic, (batch: Batch) => void>();
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let lastId = 0;
  const post = (frame: UpFrame) => socket.send(JSON.stringify(frame));

  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as DownFrame;
    switch (frame.type) {
      case "result":
        waiting.get(frame.id)?.resolve(frame.value as never);
        waiting.delete(frame.id);
        return;
      case "failure":
        waiting.get(frame.id)?.reject(new Error(frame.failure.message));
        waiting.delete(frame.id);
        return;
      case "batch":
        listeners.get(frame.topic)?.(frame);
        post({ type: "ack", topic: frame.topic, seq: frame.seq });
        return;
      case "binary":
      case "binaryDropped":
      case "binaryRefused":
        return;
      default:
        frame satisfies never;
    }
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("The control connection was lost."));
  });

  return {
    call: (name, params) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { resolve: resolve as (value: never) => void, reject });
        post({ type: "call", id, name, params });
      }),
    subscribe(topic, listener) {
      listeners.set(topic, listener);
      post({ type: "subscribe", topic });
    },
    close: () => socket.close(),
  };
}
