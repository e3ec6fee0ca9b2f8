import { useState } from "react";

/** What was shown under each key, in the order of the first visit; the present one with its newest value. */
export function useVisited<Value>(key: string, value: Value): ReadonlyMap<string, Value> {
  const [visited, setVisited] = useState<ReadonlyMap<string, Value>>(() => new Map([[key, value]]));
  if (visited.has(key) && visited.get(key) === value) return visited;
  const next = new Map(visited).set(key, value);
  setVisited(next);
  return next;
}
