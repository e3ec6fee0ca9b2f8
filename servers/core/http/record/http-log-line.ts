import { redactTarget } from "../../../../contract/traffic/redact-target.ts";

const shownTarget = 300;

/** A request target as the log may show it: values of secret query fields and any userinfo are left out, and it is cut to a line. */
export function loggedTarget(target: string): string {
  const text = redactTarget(target);
  return text.length > shownTarget ? `${text.slice(0, shownTarget)}…` : text;
}

/** It may quote what the client sent. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
export const loggedReason = (reason: string): string => reason.replace(/[\0-\x1f\x7f]/g, " ").slice(0, shownTarget);

export interface LoggedExchange {
  readonly method: string;
  readonly target: string;
  /** Status code, or why there is none. */
  readonly outcome: string;
  readonly tookMs: number;
  readonly bytesOut: number;
  readonly client: string;
  readonly peer: string;
  /** The user and the reason of a refusal, if the service knows them. */
  readonly user?: string | undefined;
  readonly reason?: string | undefined;
}

/** "GET /api/data 200 1.2 ms 35 B curl 127.0.0.1:53110", followed by user and reason: "joe@example.com: tokenexpired" */
export function httpLogLine({ method, target, outcome, tookMs, bytesOut, client, peer, user, reason }: LoggedExchange): string {
  const who = [user, reason && loggedReason(reason)].filter((part) => part !== undefined).join(": ");
  const line = `${method} ${loggedTarget(target)} ${outcome} ${durationText(tookMs)} ${bytesOut} B ${client || "-"} ${peer}`;
  return who === "" ? line : `${line} ${who}`;
}

/** "<0.1 ms", "0.4 ms", "12 ms", "2.50 s". */
export function durationText(milliseconds: number): string {
  // "0.0 ms" would read as not measured.
  if (milliseconds < 0.05) return "<0.1 ms";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
