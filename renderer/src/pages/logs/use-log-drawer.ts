import { useRemembered } from "../../ui/use-remembered.ts";

/** Whether the drawer is open: remembered, and the same for all who ask. */
export function useLogDrawer() {
  const [opened, setOpened] = useRemembered("logs-open", false);
  return { opened, toggle: () => setOpened((was) => !was) };
}
