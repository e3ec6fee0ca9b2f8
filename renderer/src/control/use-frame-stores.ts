import type { Profiles } from "../../../contract/control.ts";
import type { LogLine } from "../../../contract/log.ts";
import type { ProcessSample } from "../../../contract/traffic/row.ts";
import { useStores } from "./client-context.tsx";
import type { LogBuffer } from "./log-buffer.ts";
import { useStore } from "./use-store.ts";

export const useProcesses = (): ProcessSample | undefined => useStore(useStores().process);
export const useProfiles = (): Profiles | undefined => useStore(useStores().profiles);
export const useLogs = (): LogBuffer => useStore(useStores().logs);
export const useNotable = (): readonly LogLine[] => useStore(useStores().notable);
