import type { MqttRepeat, MqttRepeated } from "../../../contract/services/mqtt.ts";
import type { MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";
import { withValues } from "./payload-values.ts";

/** More than a user starts by hand. */
const mostAtOnce = 50;

export interface Repeats {
  list(): readonly MqttRepeat[];
  /** What they were started with. */
  messages(): readonly MqttRepeated[];
  /** Publishes immediately, then at the interval. Throws CALL_INVALID if too many are running. */
  start(params: MqttParsedPublish, everyMs: number): MqttRepeat;
  /** False if it was not running. */
  stop(id: number): boolean;
  close(): void;
}

/** Messages published at an interval until they are stopped, whether a page is open or not; text has new values each time. */
export function createRepeats(messageOf: (params: MqttParsedPublish) => Message, publish: (message: Message) => void): Repeats {
  const running = new Map<number, { readonly repeat: () => MqttRepeat; readonly repeated: MqttRepeated; readonly timer: NodeJS.Timeout }>();
  let lastId = 0;

  return {
    list: () => [...running.values()].map(({ repeat }) => repeat()),
    messages: () => [...running.values()].map(({ repeated }) => repeated),
    start(params, everyMs) {
      if (running.size >= mostAtOnce)
        throw new ServiceError("CALL_INVALID", `${mostAtOnce} messages are already being repeated`, "Stop one first.");
      const id = ++lastId;
      const startedAt = Date.now();
      let sent = 0;
      const send = () => {
        sent++;
        const payload = params.encoding === "text" ? withValues(params.payload, sent) : params.payload;
        publish(messageOf({ ...params, payload }));
      };
      const repeat = (): MqttRepeat => ({ id, topic: params.topic, everyMs, startedAt, sent });
      running.set(id, { repeat, repeated: { message: params, everyMs }, timer: setInterval(send, everyMs) });
      send();
      return repeat();
    },
    stop(id) {
      clearInterval(running.get(id)?.timer);
      return running.delete(id);
    },
    close() {
      for (const { timer } of running.values()) clearInterval(timer);
      running.clear();
    },
  };
}
