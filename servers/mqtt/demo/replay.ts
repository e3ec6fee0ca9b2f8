import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { MqttViews } from "../../../contract/services/mqtt.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";
import { messageOfLine, parseRecordedLine } from "./recorded-line.ts";
import type { ReplayFile } from "./replay-file.ts";

/** Published between two turns of the event loop, however late they are: clients are served meanwhile. */
const batch = 200;

export interface Replay {
  readonly state: MqttViews["replay"];
  /** Once more from its first line, at its own pace times `speed`; 0 is as fast as it goes. Throws JOB_UNKNOWN. */
  start(speed: number): void;
  /** Resolves when nothing of it is published any more. */
  stop(): Promise<void>;
}

/** A timer of more fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Publishes the messages of a file again with the pauses they had, reading it as it goes. */
export function createReplay(file: ReplayFile, publish: (message: Message) => void): Replay {
  let running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  let sent = 0;
  let speed = 1;
  let failure: string | undefined;

  async function run(path: string, factor: number, signal: AbortSignal): Promise<void> {
    const source = createReadStream(path);
    const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
    try {
      let firstAt: number | undefined;
      const startedAt = performance.now();
      for await (const text of lines) {
        const line = parseRecordedLine(text);
        if (!line) continue;
        firstAt ??= line.at;
        const dueMs = factor === 0 ? 0 : (line.at - firstAt) / factor;
        const leftMs = () => dueMs - (performance.now() - startedAt);
        if (leftMs() < 1 && sent % batch === 0) await nextTurn(undefined, { signal });
        while (leftMs() >= 1) await sleep(Math.min(leftMs(), longestTimerMs), undefined, { signal });
        if (signal.aborted) return;
        publish(messageOfLine(line));
        sent++;
      }
    } catch (error) {
      if (signal.aborted) return;
      const messages = `${sent.toLocaleString("en")} message${sent === 1 ? "" : "s"}`;
      failure = `It ended after ${messages}: ${errorText(error)}`;
    } finally {
      lines.close();
      source.destroy();
    }
  }

  async function stop(): Promise<void> {
    running?.abort.abort();
    await running?.ended;
    failure = undefined;
  }

  return {
    get state() {
      const problem = file.failure ?? failure;
      return {
        ...(file.state && { file: file.state }),
        running: running !== undefined,
        sent,
        speed,
        ...(problem !== undefined && { failure: problem }),
      };
    },
    start(factor) {
      const path = file.path();
      const before = stop();
      const abort = new AbortController();
      const mine = {
        abort,
        ended: before.then(async () => {
          sent = 0;
          speed = factor;
          failure = undefined;
          await run(path, factor, abort.signal);
          if (running === mine) running = undefined;
        }),
      };
      running = mine;
    },
    stop,
  };
}
