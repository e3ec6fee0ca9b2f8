/** Hooks to read the supervisor's data: the stores, one value each, and topics. */
import { useEffect, useEffectEvent, useReducer, useState, useSyncExternalStore } from "react";
import type { Profiles, Topic } from "../../../contract/control.ts";
import type { LogLine } from "../../../contract/log.ts";
import type { Failure, ServiceId, ServiceView } from "../../../contract/service.ts";
import type { ProcessSample, RateSample } from "../../../contract/traffic/row.ts";
import { useControl, useStores } from "./client-context.tsx";
import type { Batch, TopicListener } from "./control-client.ts";
import type { RecentRate } from "./dashboard-stores.ts";
import type { ReadableStore } from "./frame-store.ts";
import type { Connection } from "./transport.ts";

export const useStore = <Value>(store: ReadableStore<Value>): Value => useSyncExternalStore(store.subscribe, store.get);

export const useConnection = (): Connection => useStore(useControl().connection);

/** In the window's order; empty until the supervisor has answered. */
export const useServices = (): readonly ServiceView[] => useStore(useStores().services);

const absent: ReadableStore<undefined> = { get: () => undefined, subscribe: () => () => {} };

/** Undefined until the supervisor has answered. */
export function useService(id: ServiceId | undefined): ServiceView | undefined {
  const stores = useStores();
  return useStore<ServiceView | undefined>(id === undefined ? absent : stores.service(id));
}

/** The newest sample; it stays after the service has stopped, so read it together with the status. */
export function useRate(id: ServiceId | undefined): RateSample | undefined {
  const stores = useStores();
  return useStore<RateSample | undefined>(id === undefined ? absent : stores.rate(id));
}
export const useRecentRate = (id: ServiceId): RecentRate => useStore(useStores().recentRate(id));
export const useRates = (): ReadonlyMap<ServiceId, RateSample> => useStore(useStores().rates);

export const useProcesses = (): ProcessSample | undefined => useStore(useStores().process);
export const useProfiles = (): Profiles | undefined => useStore(useStores().profiles);
export const useNewestLine = (): LogLine | undefined => useStore(useStores().newestLine);
export const useNotable = (): readonly LogLine[] => useStore(useStores().notable);

export const useLoadFailure = (): Failure | undefined => useStore(useStores().loadFailure);

/** Subscribes while mounted; always calls the newest listener, without a new subscription. Without a topic there is no subscription. */
export function useTopic<T extends Topic>(topic: T | undefined, listener: TopicListener<T>): void {
  const client = useControl();
  const onBatch = useEffectEvent((batch: Batch<never>) => listener(batch));
  useEffect(() => (topic === undefined ? undefined : client.subscribe(topic, (batch) => onBatch(batch as Batch<never>))), [client, topic]);
}

interface HeldView<Part> {
  readonly part: Part;
  readonly pid: number | undefined;
}

interface NewestView {
  readonly value: unknown;
  readonly pid?: number;
}

/**
 * The newest value of a view, also if its process has ended. Other changes do not render the component. `select` may ask for another part
 * each time: the cell of a list shows another row when rows have moved.
 */
function useHeldView<Value, Part>(id: ServiceId, name: string, select?: (value: Value) => Part): HeldView<Part> | undefined {
  const partOf = ({ value, pid }: NewestView): HeldView<Part> => ({ part: select ? select(value as Value) : (value as Part), pid });
  const [held] = useState<{ newest: NewestView | undefined }>({ newest: undefined });
  const [, render] = useReducer((times: number) => times + 1, 0);
  useTopic(`view/${id}`, ({ items }) => {
    const newest = items.findLast((item) => item.name === name);
    if (!newest) return;
    const known = held.newest && partOf(held.newest);
    held.newest = newest;
    const { part, pid } = partOf(newest);
    if (!known || !Object.is(known.part, part) || known.pid !== pid) render();
  });
  return held.newest && partOf(held.newest);
}

/**
 * A view of a service as it is now, or what `select` returns for it. Undefined before the first, and when its process has ended: of a
 * stopped service only what was read from its data is true.
 */
export function useView<Value, Part = Value>(id: ServiceId, name: string, select?: (value: Value) => Part): Part | undefined {
  const held = useHeldView(id, name, select);
  const status = useService(id)?.status;
  const pid = status?.state === "running" ? status.pid : undefined;
  return held?.pid === pid ? held?.part : undefined;
}

type UseView<Views> = <Name extends keyof Views & string, Part = Views[Name]>(
  name: Name,
  select?: (value: Views[Name]) => Part,
) => Part | undefined;

/** `const useHttpView = viewsOf<HttpViews>("http")`: then `useHttpView("sse")` has its type. */
export const viewsOf =
  <Views>(id: ServiceId): UseView<Views> =>
  (name, select) =>
    useView(id, name, select);

/** The same, but the last known one also if its process has ended. */
export const lastViewsOf =
  <Views>(id: ServiceId): UseView<Views> =>
  (name, select) =>
    useHeldView(id, name, select)?.part;
