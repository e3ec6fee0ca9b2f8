import type { ServiceId } from "../../../contract/service.ts";
import type { RateSample } from "../../../contract/traffic/row.ts";
import { useStores } from "./client-context.tsx";
import type { RecentRate } from "./rate-history.ts";
import { useStore } from "./use-store.ts";

/** The newest sample; it stays after the service has stopped, so read it together with the status. */
export const useRate = (id: ServiceId): RateSample | undefined => useStore(useStores().rate(id));

export const useRecentRate = (id: ServiceId): RecentRate => useStore(useStores().recentRate(id));

export const useRates = (): ReadonlyMap<ServiceId, RateSample> => useStore(useStores().rates);
