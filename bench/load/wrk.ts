import path from "node:path";
import { loadCore, runToEnd } from "../harness.ts";

export const wrkConnections = 64;

export interface WrkResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers outside 2xx and 3xx, and connections that failed. */
  readonly errors: number;
}

/** GET, or POST with 1 KiB of JSON, for so many seconds from the load core. */
export async function runWrk(options: {
  url: string;
  method: "GET" | "POST";
  seconds: number;
  authorization?: string;
}): Promise<WrkResult> {
  const script = options.method === "POST" ? ["-s", path.join(import.meta.dirname, "post-1k.lua")] : [];
  const header = options.authorization === undefined ? [] : ["-H", `Authorization: ${options.authorization}`];
  const output = await runToEnd({
    command: "wrk",
    args: [
      "-t1",
      "-c",
      String(wrkConnections),
      "-d",
      `${options.seconds}s`,
      "--timeout",
      "10s",
      "--latency",
      ...script,
      ...header,
      options.url,
    ],
    core: loadCore,
  });
  return parseWrk(output);
}

export function parseWrk(output: string): WrkResult {
  const [, requests, length, unit] = /(\d+) requests in ([\d.]+)(ms|s|m),/.exec(output) ?? [];
  if (!requests || !length) throw new Error(`wrk said: ${output}`);
  const seconds = Number(length) * (unit === "ms" ? 0.001 : unit === "m" ? 60 : 1);
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output)?.slice(1) ?? [];
  return {
    requests: Number(requests),
    perSecond: Number(requests) / seconds,
    p50Ms: latency(output, 50),
    p99Ms: latency(output, 99),
    errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0) + socketErrors.reduce((sum, one) => sum + Number(one), 0),
  };
}

function latency(output: string, percent: number): number {
  const [, value, unit] = new RegExp(`\\s${percent}%\\s+([\\d.]+)(us|ms|s|m)`).exec(output) ?? [];
  return Number(value) * (unit === "us" ? 0.001 : unit === "s" ? 1_000 : unit === "m" ? 60_000 : 1);
}
