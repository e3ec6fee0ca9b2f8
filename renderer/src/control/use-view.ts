import { useState } from "react";
import type { ServiceId } from "../../../contract/service.ts";
import { useTopic } from "./use-store.ts";

/** The newest value of one view of a service; undefined before the first. A change of another view does not render again. */
export function useView<Value>(id: ServiceId, name: string): Value | undefined {
  const [value, setValue] = useState<Value>();
  useTopic(`view/${id}`, ({ items }) => {
    const newest = items.findLast((item) => item.name === name);
    if (newest) setValue(newest.value as Value);
  });
  return value;
}

/** `const useHttpView = viewsOf<HttpViews>("http")`: then `useHttpView("sse")` has its type. */
export const viewsOf =
  <Views>(id: ServiceId) =>
  <Name extends keyof Views & string>(name: Name): Views[Name] | undefined =>
    useView<Views[Name]>(id, name);
