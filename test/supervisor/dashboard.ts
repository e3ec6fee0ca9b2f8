import type { ControlCall, ControlCalls, Topic, Topics } from "../../contract/control.ts";
import type { ParamsOf, ResultOf } from "../../contract/operation.ts";
import type { Failure } from "../../contract/service.ts";
import type { DownFrame, Port } from "../../contract/wire.ts";
import { createEventLog, type EventLog } from "../support/event-log.ts";

export type Batch = Extract<DownFrame, { type: "batch" }>;

export interface TestDashboard {
  readonly frames: EventLog<DownFrame>;
  readonly rejected: () => number;
  send(frame: unknown): void;
  call<Name extends ControlCall>(name: Name, params: ParamsOf<ControlCalls[Name]>): Promise<ResultOf<ControlCalls[Name]>>;
  /** What the call answers when it is refused; throws when it is not. */
  refusal(name: string, params: unknown): Promise<Failure>;
  subscribe(topic: Topic): void;
  /** From here on every batch of the topic is acknowledged. */
  follow<T extends Topic>(topic: T): EventLog<Topics[T]>;
  batches(topic: Topic): readonly Batch[];
  close(): void;
}

/** A dashboard without a browser, on the other end of a port. */
export function createTestDashboard(attach: (port: Port<DownFrame, unknown>, reject: () => void) => void): TestDashboard {
  const frames = createEventLog<DownFrame>();
  const closers: (() => void)[] = [];
  const followed = new Map<string, EventLog<unknown>>();
  let listener: (frame: unknown) => void = () => {};
  let rejections = 0;
  let lastId = 0;
  attach(
    {
      post(frame) {
        // As it would arrive over a wire.
        const arrived = (frame.type === "binary" ? structuredClone(frame) : JSON.parse(JSON.stringify(frame))) as DownFrame;
        frames.add(arrived);
        if (arrived.type !== "batch") return;
        const items = followed.get(arrived.topic);
        if (!items) return;
        for (const item of arrived.items) items.add(item);
        listener({ type: "ack", topic: arrived.topic, seq: arrived.seq });
      },
      onFrame: (given) => {
        listener = given;
      },
      onClose: (given) => void closers.push(given),
    },
    () => rejections++,
  );
  async function ask(name: string, params: unknown) {
    const id = ++lastId;
    listener({ type: "call", id, name, params });
    const answer = await frames.until((frame) => (frame.type === "result" || frame.type === "failure") && frame.id === id);
    return answer as Extract<DownFrame, { type: "result" | "failure" }>;
  }
  return {
    frames,
    rejected: () => rejections,
    send: (frame) => listener(frame),
    async call(name, params) {
      const answer = await ask(name, params);
      if (answer.type === "failure") throw Object.assign(new Error(answer.failure.message), answer.failure);
      return answer.value as never;
    },
    async refusal(name, params) {
      const answer = await ask(name, params);
      if (answer.type === "result") throw new Error(`${name} was not refused: ${JSON.stringify(answer.value)}`);
      return answer.failure;
    },
    subscribe: (topic) => listener({ type: "subscribe", topic }),
    follow(topic) {
      const items = createEventLog<never>();
      followed.set(topic, items as unknown as EventLog<unknown>);
      listener({ type: "subscribe", topic });
      return items;
    },
    batches: (topic) => frames.items.filter((frame): frame is Batch => frame.type === "batch" && frame.topic === topic),
    close() {
      for (const close of closers) close();
    },
  };
}
