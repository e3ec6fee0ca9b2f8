import type { Engine } from "./engine/engine.ts";
import { Message } from "./engine/routing/message.ts";

/** Publishes the broker's statistics on `$SYS/broker/#`, retained, with mosquitto's topic names if it has them. */
export function startSysTopics(engine: Engine, options: { intervalSeconds: number; version: string }): () => void {
  const startedAt = performance.now();
  const last = new Map<string, string>();

  function values(): [topic: string, value: string | number][] {
    const { counters, bus, scheduler, load } = engine;
    return [
      ["version", options.version],
      ["uptime", `${Math.round((performance.now() - startedAt) / 1_000)} seconds`],
      ["clients/connected", engine.clients.size],
      ["clients/disconnected", engine.away.size],
      ["clients/total", engine.sessions.size],
      ["subscriptions/count", counters.subscriptions],
      ["retained messages/count", bus.retained.count],
      ["messages/received", counters.messagesIn],
      ["messages/sent", counters.messagesOut],
      ["store/messages/count", load.waiting],
      ["bytes/received", counters.bytesIn],
      ["bytes/sent", scheduler.bytesOut],
      ["publish/messages/dropped", counters.droppedInAll],
      ...Object.entries(counters.dropped).map(([why, count]): [string, number] => [`publish/messages/dropped/${why}`, count]),
    ];
  }

  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** Thousands of clients may have subscribed to all of them: goes on when there is time in a turn of the event loop. */
  function publish(left: readonly [topic: string, value: string | number][]) {
    for (const [index, [name, value]] of left.entries()) {
      if (isStopped) return;
      if (index > 0 && (engine.scheduler.isTurnOver() || !engine.broadcasts.isIdle)) {
        engine.broadcasts.whenIdle(() => engine.scheduler.whenWritten(() => publish(left.slice(index)), "much"));
        return;
      }
      const topic = `$SYS/broker/${name}`;
      const text = String(value);
      if (last.get(topic) === text) continue;
      last.set(topic, text);
      engine.publishInternal(new Message({ topic, payload: Buffer.from(text), qos: 0, retain: true }));
    }
    timer = setTimeout(() => publish(values()), options.intervalSeconds * 1_000);
  }

  publish(values());
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
