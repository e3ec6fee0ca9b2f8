import { markedClient } from "../../../../contract/client-mark.ts";
import { isSampleAgent, sampleAgent } from "../../../../contract/sample-traffic.ts";
import { BoundedCache } from "../../limits/bounded-cache.ts";

const known: readonly (readonly [pattern: RegExp, name: string])[] = [
  // Order matters: Edge and Opera also say "Chrome", and everything says "Mozilla".
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\bElectron\//, "Electron"],
  [/\bHeadlessChrome\//, "Chrome headless"],
  [/\b(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  // Each name is looked for from the start, once: one behind the other, "Safari" would be looked for behind each "Version".
  [/^(?=.*\bVersion\/).*\bSafari\//, "Safari"],
];

/** Longer ones are not kept: clients send a few hundred characters, or what their server allows. */
const mostKeptCharacters = 512;

/** A short name for a User-Agent: "curl", "okhttp", "Firefox". */
export function createClientNames(): (userAgent: string | undefined) => string {
  // A few clients send nearly all requests: the cache avoids matching the patterns again.
  const names = new BoundedCache<string, string>(500);
  return (userAgent = "") => (userAgent.length > mostKeptCharacters ? clientName(userAgent) : names.get(userAgent, clientName));
}

export function clientName(userAgent: string): string {
  if (!isSampleAgent(userAgent)) return softwareName(userAgent);
  const [before = ""] = userAgent.split(sampleAgent, 1);
  return markedClient(softwareName(before) || "Backlot", "sample");
}

function softwareName(userAgent: string): string {
  if (userAgent.startsWith("Mozilla/")) {
    for (const [pattern, name] of known) if (pattern.test(userAgent)) return name;
  }
  // RFC 9110 §10.1.5: the product comes first, "name/version".
  const product = /^[\w.!#$%&'*+^`|~-]+/.exec(userAgent)?.[0] ?? "";
  return product.slice(0, 40);
}
