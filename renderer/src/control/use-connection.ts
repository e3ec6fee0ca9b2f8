import { useControl } from "./client-context.tsx";
import type { Connection } from "./transport.ts";
import { useStore } from "./use-store.ts";

export const useConnection = (): Connection => useStore(useControl().connection);
