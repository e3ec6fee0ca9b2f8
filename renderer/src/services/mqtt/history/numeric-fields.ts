import { jsonTokens, type Token } from "../../../viewer/json-tokens.ts";

/** The name of a payload that is a number and nothing else. */
export const wholePayload = "";

/** Numbers of a payload by the path to them ("v", "position.lat"); works on a payload that was cut, too. */
export function numericFields(text: string): ReadonlyMap<string, number> {
  const fields = new Map<string, number>();
  if (/^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text)) return fields.set(wholePayload, Number(text));
  if (!/^\s*[{[]/.test(text)) return fields;
  walk(jsonTokens(text), fields);
  return fields;
}

interface Level {
  readonly isList: boolean;
  index: number;
  key: string;
}

function walk(tokens: readonly Token[], fields: Map<string, number>): void {
  const levels: Level[] = [];
  for (const [place, { kind, text }] of tokens.entries()) {
    const level = levels.at(-1);
    if (kind === "key") {
      if (level) level.key = text.slice(1, -1);
    } else if (kind === "number") {
      // The last token of a cut text may lack digits.
      if (place < tokens.length - 1)
        fields.set(levels.map(({ isList, index, key }) => (isList ? String(index) : key)).join("."), Number(text));
    } else if (kind === "punctuation") {
      if (text === "{" || text === "[") levels.push({ isList: text === "[", index: 0, key: "" });
      else if (text === "}" || text === "]") levels.pop();
      else if (text === "," && level) level.index++;
    }
  }
}

const usualNames = ["v", "value", "val", wholePayload, "temperature", "reading"];
/** Counters are of no use as a plot. */
const counters = /(^|\.)(seq|sequence|id|count|counter|ts|time|timestamp|at)$/i;

/** The field to plot first, where the user has chosen none. */
export function firstField(names: readonly string[]): string | undefined {
  return usualNames.find((name) => names.includes(name)) ?? names.find((name) => !counters.test(name)) ?? names[0];
}

/** The unit that a payload names for its value. */
export function unitOf(text: string): string {
  return /"units?"\s*:\s*"([^"]{1,12})"/.exec(text)?.[1] ?? "";
}
