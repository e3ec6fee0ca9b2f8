import type { Request } from "express";
import { parseDurationMs } from "./duration.ts";
import { HttpProblem } from "./http-problem.ts";

/** Bad percent-encoding stays as it is (WHATWG URL). */
export function queryOf(request: Request): URLSearchParams {
  const { originalUrl } = request;
  const start = originalUrl.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : originalUrl.slice(start + 1));
}

export const textParam = (request: Request, name: string): string => {
  const value = request.params[name];
  return typeof value === "string" ? value : (value?.join("/") ?? "");
};

/** A whole number from the path; throws a 400 where it is none or below `minimum`. */
export function integerParam(request: Request, name: string, minimum = 0): number {
  return wholeNumber(name, textParam(request, name), minimum, Number.MAX_SAFE_INTEGER);
}

export function integerQuery(
  query: URLSearchParams,
  name: string,
  options: { fallback: number; minimum?: number; maximum?: number },
): number {
  const text = query.get(name);
  if (text === null || text === "") return options.fallback;
  return wholeNumber(name, text, options.minimum ?? 0, options.maximum ?? Number.MAX_SAFE_INTEGER);
}

function wholeNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const bound = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw new HttpProblem(400, `Invalid ${name}: a whole number ${bound} is needed`);
}

export function durationQuery(query: URLSearchParams, name: string, options: { fallbackMs: number; maximumMs: number }): number {
  const text = query.get(name);
  if (text === null || text === "") return options.fallbackMs;
  const value = parseDurationMs(text);
  if (value === undefined || value > options.maximumMs) {
    throw new HttpProblem(400, `Invalid ${name}: a time from 0 to ${options.maximumMs / 1_000} s is needed, such as 500ms or 2s`);
  }
  return value;
}
