/** Placeholders in the text of a repeated message: `{{counter}}`, `{{time}}`, `{{seconds}}`, `{{random}}`, `{{random 1 6}}`, `{{uuid}}`. */
import { randomUUID } from "node:crypto";

const placeholder = /\{\{ *(counter|time|seconds|uuid|random(?: +-?\d+(?:\.\d+)? +-?\d+(?:\.\d+)?)?) *\}\}/g;

/** Puts values in the place of the placeholders; `counter` begins with 1. Other braces stay as they are. */
export function withValues(text: string, counter: number): string {
  return text.replace(placeholder, (_, given: string) => {
    const [name, low, high] = given.split(/ +/);
    switch (name) {
      case "counter":
        return String(counter);
      case "time":
        return new Date().toISOString();
      case "seconds":
        return String(Math.floor(Date.now() / 1_000));
      case "uuid":
        return randomUUID();
      default:
        return low === undefined || high === undefined ? Math.random().toFixed(6) : randomBetween(low, high);
    }
  });
}

/** Whole numbers include both ends; otherwise it has as many decimals as the bound with more of them. */
function randomBetween(one: string, other: string): string {
  const [low, high] = [Number(one), Number(other)].sort((a, b) => a - b) as [number, number];
  const decimals = Math.max(...[one, other].map((text) => text.split(".")[1]?.length ?? 0));
  if (decimals > 0) return (low + Math.random() * (high - low)).toFixed(Math.min(decimals, 20));
  return String(low + Math.floor(Math.random() * (high - low + 1)));
}
