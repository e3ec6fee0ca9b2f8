import type { ClickTimes, DeliveredCounts } from "./attached-dashboard.ts";
import type { LoadFigures } from "./dashboard-bench.ts";
import { median, percentile } from "./harness.ts";
import { count, figure, markdownTable, verdict } from "./markdown-table.ts";

/** 60 frames a second are 16.7 ms from one to the next. */
const targets = { stopMs: 100, frameMs: 17, longTasks: 0, mebibytes: 600 };

export interface FloodResult {
  readonly load: LoadFigures;
  /** Requests that the service counted. */
  readonly counted: number;
  /** Of these, those that it could not send to the supervisor. */
  readonly notRecorded: number;
  readonly delivered: DeliveredCounts;
  /** Rows delivered and left out, as counted by a second listener; both listeners must have the same number. */
  readonly deliveredInAll: number;
  readonly frames: { readonly framesMs: readonly number[]; readonly longTasksMs: readonly number[] } | undefined;
  /** The most seen at any moment, in MiB. */
  readonly memory: { readonly backlotResident: number; readonly backlotProportional: number; readonly dashboardProportional: number };
  readonly corePercents: { readonly service: number; readonly backlot: number; readonly dashboard: number };
}

export interface StopTimes {
  /** Empty without a page. */
  readonly clicks: readonly ClickTimes[];
  readonly callMs: readonly number[];
  /** Requests a second at the moment of each Stop. */
  readonly rates: readonly number[];
}

export interface FloodReport {
  readonly dashboard: string;
  readonly requestsPerSecond: number;
  readonly connections: number;
  readonly flood: FloodResult;
  readonly stopTimes: StopTimes;
  readonly otherLoad: string;
}

export function floodReport({ dashboard, requestsPerSecond, connections, flood, stopTimes, otherLoad }: FloodReport): string {
  const { load } = flood;
  return [
    `The dashboard is ${dashboard}.`,
    `**Where ${count(load.sent)} requests went**`,
    accounting(flood),
    "**Under this load**",
    figures(flood, stopTimes),
    `${count(load.sent)} requests in ${figure(load.seconds)} s (planned: ${count(requestsPerSecond)} a second) on ${connections} connections. ` +
      `Stop was requested at ${count(Math.min(...stopTimes.rates))} to ${count(Math.max(...stopTimes.rates))} requests a second. ` +
      `The generator's clock was ${figure(load.latestTickMs)} ms late at worst. ${otherLoad}`,
  ].join("\n\n");
}

function accounting({ load, counted, notRecorded, delivered, deliveredInAll }: FloodResult): string {
  const recorded = counted - notRecorded;
  const received = delivered.updates + delivered.leftOut;
  const lost =
    Math.abs(load.sent - load.answered) +
    Math.abs(load.answered - counted) +
    Math.max(0, recorded - delivered.rows - delivered.leftOut) +
    Math.abs(deliveredInAll - received);
  return markdownTable(
    ["", "requests"],
    [
      ["sent", count(load.sent)],
      ["answered", count(load.answered)],
      ["counted by the service", count(counted)],
      ["recorded", count(recorded)],
      ["not recorded, and counted as such", count(notRecorded)],
      ["delivered to the dashboard at once", count(delivered.rows)],
      ["left out of its batches, and counted in them", count(delivered.leftOut)],
      ["sent twice: pending, then ended", count(received - recorded)],
      ["**unaccounted for**", `**${count(lost)}**`],
    ],
  );
}

function figures({ delivered, frames, memory, corePercents }: FloodResult, { clicks, callMs }: StopTimes): string {
  const stop = (name: string, values: readonly number[]) =>
    values.length === 0 ? [] : [[name, `${figure(median(values))} ms`, `${figure(Math.max(...values))} ms`]];
  const judgedStop = (name: string, values: readonly number[]) =>
    stop(name, values).map((cells) => [...cells, `< ${targets.stopMs} ms`, verdict(median(values) < targets.stopMs)]);
  const cpu = (name: string, percent: number) => [name, `${figure(percent)} % of a core`];
  const ages = delivered.agesMs;
  const page = frames
    ? [
        [
          "time from frame to frame",
          `${figure(median(frames.framesMs))} ms`,
          `${figure(Math.max(...frames.framesMs))} ms`,
          `≤ ${targets.frameMs} ms`,
          verdict(median(frames.framesMs) <= targets.frameMs),
        ],
        [
          `tasks over 50 ms: ${frames.longTasksMs.length}`,
          frames.longTasksMs.length > 0 ? `${figure(median(frames.longTasksMs))} ms` : "–",
          frames.longTasksMs.length > 0 ? `${figure(Math.max(...frames.longTasksMs))} ms` : "–",
          `${targets.longTasks} tasks`,
          verdict(frames.longTasksMs.length <= targets.longTasks),
        ],
        ["memory of Chromium, all processes", "", `${figure(memory.dashboardProportional)} MiB`],
        cpu("CPU of Chromium, all processes", corePercents.dashboard),
      ]
    : [];
  return markdownTable(
    ["", "median", "worst", "target", "result"],
    [
      ...judgedStop(
        "Stop, from the click to the painted word",
        clicks.map((click) => click.paintedMs),
      ),
      ...stop(
        "– until the busy page handles the click",
        clicks.map((click) => click.handledMs),
      ),
      ...stop(
        "– until the word is in the document",
        clicks.map((click) => click.shownMs),
      ),
      ...judgedStop("Stop, from the call to its result", callMs),
      [
        "memory of Backlot, all processes (RSS)",
        "",
        `${figure(memory.backlotResident)} MiB`,
        `< ${targets.mebibytes} MiB`,
        verdict(memory.backlotResident < targets.mebibytes),
      ],
      ["memory of Backlot, shared pages in parts (PSS)", "", `${figure(memory.backlotProportional)} MiB`],
      ["from a request's arrival to its row in the dashboard", `${figure(median(ages))} ms`, `${figure(percentile(ages, 0.99))} ms (p99)`],
      ...page,
      cpu("CPU of the HTTP service", corePercents.service),
      cpu("CPU of Backlot, all processes", corePercents.backlot),
    ],
  );
}
