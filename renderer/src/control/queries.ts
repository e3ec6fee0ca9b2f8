import { QueryClient, type QueryFilters } from "@tanstack/react-query";
import { isSilent, type ServiceId, type ServiceStatus } from "../../../contract/service.ts";
import type { ControlClient } from "./control-client.ts";

/** How long unused answers are kept: long enough to return to the previous row. */
const keptMs = 30_000;

const stateKey = (status: ServiceStatus): string => (isSilent(status) ? "silent" : status.state);

/** Cached answers to calls, requested again after a reconnect or when the state of their service changes: keys begin with its id. */
export function createQueries(client: ControlClient): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        gcTime: keptMs,
        staleTime: 0,
        retry: false,
        networkMode: "always",
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        // Details are large, so they are not compared but replaced.
        structuralSharing: false,
      },
    },
  });
  /** Shown queries are read again; one that is being read, after that read: never two at once. */
  function renew(filters: QueryFilters = {}): void {
    for (const query of queries.getQueryCache().findAll(filters)) {
      const renewOne = () => void queries.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
      if (query.state.fetchStatus === "fetching" && query.promise) void query.promise.then(renewOne, renewOne);
      else renewOne();
    }
  }
  const states = new Map<ServiceId, string>();
  client.onOpen(() => renew());
  client.subscribe("status", ({ items }) => {
    for (const { id, status } of items) {
      const before = states.get(id);
      const state = stateKey(status);
      states.set(id, state);
      if (before !== undefined && before !== state) renew({ queryKey: [id] });
    }
  });
  return queries;
}
