import { useLocalStorage } from "@mantine/hooks";

/** State of the window that outlives it, under a name of its own. */
export function useRemembered<Value>(name: string, initial: Value) {
  const [value, setValue] = useLocalStorage<Value>({ key: `backlot.${name}`, defaultValue: initial, getInitialValueInEffect: false });
  return [value, setValue] as const;
}
