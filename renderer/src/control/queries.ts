import { QueryClient } from "@tanstack/react-query";
import type { ServiceId, ServiceStatus } from "../../../contract/service.ts";
import type { ControlClient } from "./control-client.ts";

/** Unused answers are kept so long: enough to go back to a row that was just left. */
const keptMs = 30_000;

/** Answers to calls, asked for again when the connection is made anew or the state of their service changes: keys begin with its id. */
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
        // Details are large, and replaced as a whole.
        structuralSharing: false,
      },
    },
  });
  const states = new Map<ServiceId, ServiceStatus["state"]>();
  client.onOpen(() => void queries.invalidateQueries());
  client.subscribe("status", ({ items }) => {
    for (const { id, status } of items) {
      const before = states.get(id);
      states.set(id, status.state);
      if (before !== undefined && before !== status.state) void queries.invalidateQueries({ queryKey: [id] });
    }
  });
  return queries;
}
