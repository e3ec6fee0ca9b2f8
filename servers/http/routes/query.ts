import type { HttpRequest } from "../../core/http/http-route.ts";
import { type QueryFields, queryFieldsOf } from "../../core/http/messages/form-fields.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";

export const queryOf = ({ url = "" }: HttpRequest): QueryFields => queryFieldsOf(url);

type Query = Pick<QueryFields, "get">;

export const textParam = (request: HttpRequest, name: string): string => {
  const value = request.params[name];
  return typeof value === "string" ? value : (value?.join("/") ?? "");
};

/** An integer from the path; throws a 400 if it is not an integer or below `minimum`. */
export function integerParam(request: HttpRequest, name: string, minimum = 0): number {
  return wholeNumber(name, textParam(request, name), minimum, Number.MAX_SAFE_INTEGER);
}

export function integerQuery(query: Query, name: string, options: { fallback: number; minimum?: number; maximum?: number }): number {
  const text = query.get(name);
  if (text === null || text === "") return options.fallback;
  return wholeNumber(name, text, options.minimum ?? 0, options.maximum ?? Number.MAX_SAFE_INTEGER);
}

function wholeNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const bound = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new HttpRefusal(400, `Invalid ${name}: a whole number ${bound} is needed`);
}

export function durationQuery(query: Query, name: string, options: { fallbackMs: number; maximumMs: number }): number {
  const text = query.get(name);
  if (text === null || text === "") return options.fallbackMs;
  const value = parseDurationMs(text);
  if (value === undefined || value > options.maximumMs) {
    throw new HttpRefusal(400, `Invalid ${name}: a time from 0 to ${options.maximumMs / 1_000} s is needed, such as 500ms or 2s`);
  }
  return value;
}

const units: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, ms: 1, m: 60_000 };

/** "5s", "500ms", "1.5" (seconds) as milliseconds; undefined for any other text. */
function parseDurationMs(text: string): number | undefined {
  const [unit = ""] = /[a-z]{1,2}$/.exec(text) ?? [];
  const scale = Object.hasOwn(units, unit) ? units[unit] : undefined;
  const value = decimalOf(text.slice(0, text.length - unit.length));
  return value === undefined || scale === undefined ? undefined : value * scale;
}

/** Digits with at most one point, without a sign; undefined for any other text. */
export const decimalOf = (text: string): number | undefined => (/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : undefined);
