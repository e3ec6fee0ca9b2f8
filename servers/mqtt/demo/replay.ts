import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { MqttViews } from "../../../contract/services/mqtt.ts";
import { countOf } from "../../core/service/quantity.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";
import { messageOfLine, parseRecordedLine } from "./recorded-line.ts";
import type { ReplayFile } from "./replay-file.ts";

/** Most messages published in one turn of the event loop, so that clients are served in between. */
const batch = 200;

export interface Replay {
  readonly state: MqttViews["replay"];
  /** Starts from the first line, at the recorded pace times `speed`; 0 is as fast as possible. Throws JOB_UNKNOWN. */
  start(speed: number): void;
  /** Resolves when publishing has ended. */
  stop(): Promise<void>;
}

/** Longest delay of a Node timer; a longer one fires immediately. */
const longestTimerMs = 2 ** 31 - 1;

/** Publishes the messages of a file with their original intervals, and reads the file while doing so. */
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
      failure = `It ended after ${countOf(sent, "message")}: ${errorText(error)}`;
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
