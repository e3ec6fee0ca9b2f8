import type { MqttRepeat, MqttRepeated } from "../../../contract/services/mqtt.ts";
import type { MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";
import { withValues } from "./payload-values.ts";

/** More than a user starts by hand. */
const mostAtOnce = 50;

export interface Repeats {
  list(): readonly MqttRepeat[];
  /** Publishes immediately, then at the interval; `sent` counts the times before. Throws CALL_INVALID if too many are running. */
  start(params: MqttParsedPublish, everyMs: number, sent?: number): MqttRepeat;
  /** False if it was not running. */
  stop(id: number): boolean;
  close(): void;
}

interface RepeatsOptions {
  readonly messageOf: (params: MqttParsedPublish) => Message;
  readonly publish: (message: Message) => void;
  /** As they would be started again; called at each change, sometimes between, and at the end. */
  readonly show: (repeated: readonly MqttRepeated[]) => void;
}

const showEveryMs = 500;

/** Messages published at an interval until they are stopped, whether a page is open or not; text has new values each time. */
export function createRepeats({ messageOf, publish, show }: RepeatsOptions): Repeats {
  const running = new Map<
    number,
    { readonly repeat: () => MqttRepeat; readonly repeated: () => MqttRepeated; readonly timer: NodeJS.Timeout }
  >();
  let lastId = 0;
  let shownAt = 0;

  function showAll() {
    shownAt = performance.now();
    show([...running.values()].map(({ repeated }) => repeated()));
  }

  return {
    list: () => [...running.values()].map(({ repeat }) => repeat()),
    start(params, everyMs, sentBefore = 0) {
      if (running.size >= mostAtOnce)
        throw new ServiceError("CALL_INVALID", `${mostAtOnce} messages are already being repeated`, "Stop one first.");
      const id = ++lastId;
      const startedAt = Date.now();
      let sent = sentBefore;
      const send = () => {
        sent++;
        const payload = params.encoding === "text" ? withValues(params.payload, sent) : params.payload;
        publish(messageOf({ ...params, payload }));
        if (performance.now() - shownAt >= showEveryMs) showAll();
      };
      const repeat = (): MqttRepeat => ({ id, topic: params.topic, everyMs, startedAt, sent });
      const repeated = (): MqttRepeated => ({ message: params, everyMs, sent });
      running.set(id, { repeat, repeated, timer: setInterval(send, everyMs) });
      send();
      showAll();
      return repeat();
    },
    stop(id) {
      clearInterval(running.get(id)?.timer);
      const stopped = running.delete(id);
      showAll();
      return stopped;
    },
    close() {
      if (running.size > 0) showAll();
      for (const { timer } of running.values()) clearInterval(timer);
      running.clear();
    },
  };
}
