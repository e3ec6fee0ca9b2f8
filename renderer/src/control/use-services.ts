import type { ServiceId, ServiceView } from "../../../contract/service.ts";
import { useStores } from "./client-context.tsx";
import { useStore } from "./use-store.ts";

/** In the window's order; empty until the supervisor has answered. */
export const useServices = (): readonly ServiceView[] => useStore(useStores().services);

/** Undefined until the supervisor has answered. */
export const useService = (id: ServiceId): ServiceView | undefined => useStore(useStores().service(id));
