import { useState } from "react";
import type { ServiceId } from "../../../contract/service.ts";
import { useTopic } from "./use-store.ts";

/**
 * The newest value of one view of a service, or what `select` takes of it; undefined before the first. A change of another view, or of
 * what was not selected, does not render again.
 */
export function useView<Value, Part = Value>(id: ServiceId, name: string, select?: (value: Value) => Part): Part | undefined {
  const [part, setPart] = useState<Part>();
  useTopic(`view/${id}`, ({ items }) => {
    const newest = items.findLast((item) => item.name === name);
    if (!newest) return;
    const value = newest.value as Value;
    setPart(() => (select ? select(value) : (value as unknown as Part)));
  });
  return part;
}

/** `const useHttpView = viewsOf<HttpViews>("http")`: then `useHttpView("sse")` has its type. */
export const viewsOf =
  <Views>(id: ServiceId) =>
  <Name extends keyof Views & string, Part = Views[Name]>(name: Name, select?: (value: Views[Name]) => Part): Part | undefined =>
    useView<Views[Name], Part>(id, name, select);
