import { jsonTokens, type Token } from "../../../viewer/layout/json-tokens.ts";

/** Name of the field if the whole payload is a number. */
export const wholePayload = "";

/** The numbers in a payload by path ("v", "position.lat"); also works on a truncated payload. */
export function numericFields(text: string): ReadonlyMap<string, number> {
  const fields = new Map<string, number>();
  if (/^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(text)) return fields.set(wholePayload, Number(text));
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
      // The last token of a truncated text may lack digits.
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
/** Counters are not useful as a plot. */
const counters = /(^|\.)(seq|sequence|id|count|counter|ts|time|timestamp|at)$/i;

/** The field to plot if the user has not chosen one. */
export function firstField(names: readonly string[]): string | undefined {
  return usualNames.find((name) => names.includes(name)) ?? names.find((name) => !counters.test(name)) ?? names[0];
}

/** The unit given in a payload. */
export function unitOf(text: string): string {
  return /"units?"\s*:\s*"([^"]{1,12})"/.exec(text)?.[1] ?? "";
}
