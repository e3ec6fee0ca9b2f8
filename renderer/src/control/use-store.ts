import { useSyncExternalStore } from "react";
import type { ReadableStore } from "./frame-store.ts";

export const useStore = <Value>(store: ReadableStore<Value>): Value => useSyncExternalStore(store.subscribe, store.get);
