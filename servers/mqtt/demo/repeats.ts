import type { MqttRepeat } from "../../../contract/services/mqtt.ts";
import type { MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";

/** More than a user starts by hand. */
const mostAtOnce = 50;

export interface Repeats {
  list(): readonly MqttRepeat[];
  /** Publishes immediately, then at the interval. Throws CALL_INVALID if too many are running. */
  start(params: MqttParsedPublish, everyMs: number): MqttRepeat;
  /** False if it was not running. */
  stop(id: number): boolean;
  close(): void;
}

/** Messages published at an interval until they are stopped, whether a page is open or not. */
export function createRepeats(messageOf: (params: MqttParsedPublish) => Message, publish: (message: Message) => void): Repeats {
  const running = new Map<number, { readonly repeat: () => MqttRepeat; readonly timer: NodeJS.Timeout }>();
  let lastId = 0;

  return {
    list: () => [...running.values()].map(({ repeat }) => repeat()),
    start(params, everyMs) {
      if (running.size >= mostAtOnce)
        throw new ServiceError("CALL_INVALID", `${mostAtOnce} messages are already being repeated`, "Stop one first.");
      const id = ++lastId;
      const startedAt = Date.now();
      let sent = 0;
      const send = () => {
        sent++;
        publish(messageOf(params));
      };
      const repeat = (): MqttRepeat => ({ id, topic: params.topic, everyMs, startedAt, sent });
      running.set(id, { repeat, timer: setInterval(send, everyMs) });
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
