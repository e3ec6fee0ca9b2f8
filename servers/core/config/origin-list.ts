import { z } from "zod";

/** In characters. A longer one is of nobody: to parse it takes a millisecond. */
const longestOrigin = 2_000;

/** `scheme://host[:port]` as a browser sends it; undefined for another scheme than those of the web, and for what is no origin. */
export function normalizedOrigin(text: string): string | undefined {
  const url = text.length > longestOrigin ? null : URL.parse(text);
  return url && url.origin !== "null" && url.pathname === "/" && url.search === "" && url.hash === "" && url.username === ""
    ? url.origin
    : undefined;
}

/** Of pages that a program shows: capacitor://localhost, chrome-extension://… */
const ofPrograms = /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/i;

const isListed = (text: string): boolean =>
  text === "*" || text === "null" || normalizedOrigin(text) !== undefined || ofPrograms.test(text);

/** Origins in a configuration; "*" is any. */
export const originList = z.array(
  z.string().max(longestOrigin).refine(isListed, "An origin is written https://app.example.com or http://host:8080, without a path."),
);
