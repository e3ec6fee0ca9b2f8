import { useState } from "react";
import type { HttpViews } from "../../../../contract/services/http.ts";
import { useTopic } from "../../control/use-store.ts";

const nothingYet: HttpViews = { sse: { subscribers: [], eventsSent: 0 }, sample: { running: false } };

/** The service's own views, the newest of each. */
export function useHttpViews(): HttpViews {
  const [views, setViews] = useState(nothingYet);
  useTopic("view/http", ({ items }) =>
    setViews((known) => ({ ...known, ...Object.fromEntries(items.map(({ name, value }) => [name, value])) })),
  );
  return views;
}
