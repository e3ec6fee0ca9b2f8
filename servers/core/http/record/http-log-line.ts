import { namesSecret } from "../../../../contract/traffic/secret-names.ts";
import { percentDecoded } from "../messages/percent-decoded.ts";

const shownTarget = 300;

/** A request target as the log may show it: values of secret query fields and any userinfo are left out, and it is cut to a line. */
export function loggedTarget(target: string): string {
  const text = redactTarget(target);
  return text.length > shownTarget ? `${text.slice(0, shownTarget)}…` : text;
}

/** `onHidden` is called with each value that is left out, as it was written. */
export function redactTarget(target: string, onHidden?: (value: string) => void): string {
  const queryAt = target.indexOf("?");
  if (queryAt === -1) return redactPath(target, onHidden);
  return redactPath(target.slice(0, queryAt), onHidden) + redactQuery(target.slice(queryAt), onHidden);
}

/** RFC 9110 §4.2.4: an absolute-form target may hold a password, and so may a URL within a path. */
function redactPath(path: string, onHidden?: (value: string) => void): string {
  if (!path.includes("@") && !path.includes("%40")) return path;
  return path.replace(/((?:[/\\]|%2f|%5c){2})((?:(?!%2f|%5c|%40)[^/\\@])*)(?:@|%40)/gi, (_, slashes: string, user: string) => {
    onHidden?.(user.replace(/^.*?(?::|%3a)/i, ""));
    return `${slashes}…@`;
  });
}

function redactQuery(query: string, onHidden?: (value: string) => void): string {
  const decoded = decodeFully(query);
  if (!namesSecret(decoded) && !userinfo.test(decoded)) return query;
  return query.replace(/([?&;])([^=&;?]*)=([^&;]*)/g, (whole, mark: string, name: string, value: string) => {
    if (!namesSecret(decodeSafely(name)) && !holdsSecret(decodeFully(value))) return whole;
    onHidden?.(value);
    return `${mark}${name}=…`;
  });
}

const userinfo = /[/\\]{2}[^/\\?#]*@/;
const mostDecodings = 3;

/** A URL within a query field may have a password or a query of its own. */
function holdsSecret(value: string): boolean {
  if (userinfo.test(value)) return true;
  for (const [, name = ""] of value.matchAll(/[?&;]([^=&;?]*)=/g)) if (namesSecret(name)) return true;
  return false;
}

/** Decodes repeatedly: a secret that was encoded twice is redacted too. */
function decodeFully(text: string): string {
  let decoded = text;
  for (let round = 0; round < mostDecodings && decoded.includes("%"); round++) decoded = decodeSafely(decoded);
  return decoded;
}

/** What cannot be decoded counts as the name of a secret. */
const decodeSafely = (text: string): string => percentDecoded(text) ?? "secret";

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
  // A reason may quote what the client sent.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
  const why = reason?.replace(/[\0-\x1f\x7f]/g, " ").slice(0, shownTarget);
  const who = [user, why].filter((part) => part !== undefined).join(": ");
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
