import type { z } from "zod";
import { neededText } from "../config/issue-text.ts";
import { HttpRefusal } from "../http/messages/http-refusal.ts";

/** Of the fields of a query, by their names: `kind`, `forMs`, `seed` and those of the kind. Throws an HttpRefusal of 400 with what is wrong. */
export function faultStartOf<Start extends z.ZodType>(query: URLSearchParams, schema: Start): z.output<Start> {
  const { forMs, seed, ...fault } = Object.fromEntries([...query].map(([name, text]) => [name, fieldOf(name, text)]));
  const parsed = schema.safeParse({ fault, ...(forMs !== undefined && { forMs }), ...(seed !== undefined && { seed }) });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = issue?.path.filter((part) => part !== "fault").join(".") ?? "";
  throw new HttpRefusal(400, `${name === "" ? "" : `${name}: `}${neededText(issue)}`);
}

/** The kind to be ended; undefined for all. Throws an HttpRefusal of 400. */
export function faultKindOf<Kind extends string>(query: URLSearchParams, kinds: readonly Kind[]): Kind | undefined {
  const kind = query.get("kind");
  if (kind === null) return undefined;
  const known = kinds.find((one) => one === kind);
  if (!known) throw new HttpRefusal(400, `kind is one of ${kinds.join(", ")}`);
  return known;
}

/** A seed is a text, also where it is digits. */
const fieldOf = (name: string, text: string): string | number => (name !== "seed" && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text);
