import { type Topic, topicPolicies } from "../../contract/control.ts";
import { type DownFrame, type Port, type UpFrame, upFrame } from "../../contract/wire.ts";
import { isDeeper } from "../core/limits/json-limits.ts";
import { ServiceError, toFailure } from "../core/service/service-error.ts";
import type { BinaryHub, BinaryOutlet } from "./binary-hub.ts";
import type { TopicHub } from "./topic-hub.ts";
import { createTopicOutlet, type TopicOutlet } from "./topic-outlet.ts";
import type { Turns } from "./traffic/turns.ts";

/** Answers one call by name, in turns with those of other callers. Throws CALL_UNKNOWN, CALL_INVALID or the call's own error. */
export type CallHandler = (name: string, params: unknown, caller: unknown) => Promise<unknown>;

/** Most concurrent calls of one dashboard. */
const maxPendingCalls = 256;
/** Deepest parameters of a call. Levels beyond some thousands overflow the stack of whatever walks through them. */
const deepestParams = 200;
/** Most binary sources of one dashboard, each with its own window of bytes. */
const maxBinarySubscriptions = 64;

/** Serves one dashboard until its port closes. An invalid frame closes the connection (`reject`). */
export function serveDashboard(options: {
  port: Port<DownFrame, unknown>;
  hub: TopicHub;
  binary: Pick<BinaryHub, "open">;
  call: CallHandler;
  /** Schedules the calls of all dashboards in turns, so that one dashboard does not delay another. */
  turns: Turns;
  reject: () => void;
}): void {
  const { port, hub, call, turns } = options;
  const outlets = new Map<string, TopicOutlet>();
  const binaryOutlets = new Map<number, BinaryOutlet>();
  let pendingCalls = 0;
  let open = true;
  const post = (frame: DownFrame) => {
    if (open) port.post(frame);
  };

  async function answer(frame: Extract<UpFrame, { type: "call" }>) {
    pendingCalls++;
    try {
      if (pendingCalls > maxPendingCalls) {
        throw new ServiceError("CALL_INVALID", "Too many calls are in progress", "Wait for some of them to end.");
      }
      if (isDeeper(frame.params, deepestParams)) {
        throw new ServiceError(
          "CALL_INVALID",
          `The parameters of ${frame.name} have more than ${deepestParams} levels`,
          "Send fewer levels.",
        );
      }
      const value = await turns.run(port, { next: () => ({ done: true, value: open ? call(frame.name, frame.params, port) : null }) });
      post({ type: "result", id: frame.id, value: value ?? null });
    } catch (error) {
      post({ type: "failure", id: frame.id, failure: toFailure(error) });
    } finally {
      pendingCalls--;
    }
  }

  function openBinary({ subscription, ...wanted }: Extract<UpFrame, { type: "binarySubscribe" }>) {
    if (!open || binaryOutlets.has(subscription)) return;
    try {
      if (binaryOutlets.size >= maxBinarySubscriptions) {
        throw new ServiceError("CALL_INVALID", "Too many binary topics are open", "Close some of them.");
      }
      binaryOutlets.set(subscription, options.binary.open(wanted, subscription, post));
    } catch (error) {
      post({ type: "binaryRefused", subscription, failure: toFailure(error) });
    }
  }

  port.onFrame((raw) => {
    const parsed = upFrame.safeParse(raw);
    if (!parsed.success) {
      options.reject();
      return;
    }
    const frame = parsed.data;
    switch (frame.type) {
      case "call":
        void answer(frame);
        return;
      case "subscribe":
        if (open && topicPolicies.has(frame.topic) && !outlets.has(frame.topic)) {
          outlets.set(frame.topic, createTopicOutlet(frame.topic as Topic, hub, post));
        }
        return;
      case "unsubscribe":
        outlets.get(frame.topic)?.close();
        outlets.delete(frame.topic);
        return;
      case "ack":
        outlets.get(frame.topic)?.ack(frame.seq);
        return;
      case "binarySubscribe":
        openBinary(frame);
        return;
      case "binaryUnsubscribe":
        binaryOutlets.get(frame.subscription)?.close();
        binaryOutlets.delete(frame.subscription);
        return;
      case "binaryAck":
        binaryOutlets.get(frame.subscription)?.ack(frame.seq);
        return;
      default:
        frame satisfies never;
    }
  });
  port.onClose(() => {
    open = false;
    for (const outlet of [...outlets.values(), ...binaryOutlets.values()]) outlet.close();
    outlets.clear();
    binaryOutlets.clear();
  });
}
