import { useState } from "react";
import type { AccountViews } from "../../../../contract/services/account.ts";
import { useTopic } from "../../control/use-store.ts";

const nothingYet: Partial<AccountViews> = {};

/** The service's own views, the newest of each; a view that it has not told yet is absent. */
export function useAccountViews(): Partial<AccountViews> {
  const [views, setViews] = useState(nothingYet);
  useTopic("view/account", ({ items }) =>
    setViews((known) => ({ ...known, ...Object.fromEntries(items.map(({ name, value }) => [name, value])) })),
  );
  return views;
}
