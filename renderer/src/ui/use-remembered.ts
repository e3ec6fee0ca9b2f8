import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";
import { z } from "zod";

interface RememberedOptions<Value> {
  /** What is written: without passwords, tokens and other credentials. In memory it stays whole. */
  readonly keeps?: (value: Value) => Value;
}

/**
 * State of the window that outlives it, under a name of its own. What was written by another version, or by hand, and is not of the
 * schema's shape, is as if nothing was remembered. Without a schema it is that of the initial value: plain fields, no lists.
 */
export function useRemembered<Value>(
  name: string,
  initial: Value,
  schema: z.ZodType<Value> = schemaLike(initial) as unknown as z.ZodType<Value>,
  { keeps = (value) => value }: RememberedOptions<Value> = {},
) {
  const [value, setValue] = useLocalStorage<Value>({
    key: `backlot.${name}`,
    defaultValue: initial,
    getInitialValueInEffect: false,
    serialize: (next) => JSON.stringify(keeps(next)),
    deserialize: (text) => readRemembered(text, initial, schema),
  });
  return [value, setValue] as const;
}

export function readRemembered<Value>(text: string | undefined, initial: Value, schema: z.ZodType<Value>): Value {
  if (text === undefined) return initial;
  try {
    const { success, data } = schema.safeParse(JSON.parse(text));
    return success ? data : initial;
  } catch {
    return initial;
  }
}

/** The shape of plain values and of objects of them. Lists and choices among words need a schema of their own. */
export function schemaLike(value: unknown): z.ZodType {
  switch (typeof value) {
    case "string":
      return z.string();
    case "number":
      return z.number();
    case "boolean":
      return z.boolean();
    case "object":
      if (value !== null && !Array.isArray(value))
        return z.object(Object.fromEntries(Object.entries(value).map(([key, field]) => [key, schemaLike(field)])));
      break;
    default:
  }
  throw new Error("A remembered list, or a value that may be absent, needs a schema.");
}

/** What was shown under each key, in the order of the first visit; the present one with its newest value. */
export function useVisited<Value>(key: string, value: Value): ReadonlyMap<string, Value> {
  const [visited, setVisited] = useState<ReadonlyMap<string, Value>>(() => new Map([[key, value]]));
  if (visited.has(key) && visited.get(key) === value) return visited;
  const next = new Map(visited).set(key, value);
  setVisited(next);
  return next;
}
