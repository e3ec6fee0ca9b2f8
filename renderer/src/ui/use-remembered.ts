import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";
import { z } from "zod";

interface RememberedOptions<Value> {
  /** The value to write, without passwords, tokens and other credentials; the value in memory keeps them. */
  readonly keeps?: (value: Value) => Value;
}

/**
 * State that is stored under a name and outlives the window. A stored value that does not match the schema, from another version or
 * edited by hand, is ignored. Without a schema, the shape of the initial value is used: plain fields, no lists.
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

/** The schema of plain values and objects of them. Lists and enumerations need a schema of their own. */
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

/** The values shown under each key, in the order of the first visit; the current one with its newest value. */
export function useVisited<Value>(key: string, value: Value): ReadonlyMap<string, Value> {
  const [visited, setVisited] = useState<ReadonlyMap<string, Value>>(() => new Map([[key, value]]));
  if (visited.has(key) && visited.get(key) === value) return visited;
  const next = new Map(visited).set(key, value);
  setVisited(next);
  return next;
}
