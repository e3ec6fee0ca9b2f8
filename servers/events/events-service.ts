import type { Endpoint } from "../../contract/service.ts";
import { eventsActions } from "../../contract/services/events.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import { defineService } from "../core/service/service.ts";
import { eventsConfig } from "./events-config.ts";
import { eventsSnippets } from "./events-snippets.ts";

const endpointsAt = (port: number, openToLan: boolean): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [
    { label: "Collect", url: `http://${host}:${port}/events` },
    { label: "Stats", url: `http://${host}:${port}/stats` },
  ]);

export const eventsService = defineService({
  id: "events",
  title: "Events",
  purpose: "Collects completion events, pages and statistics",
  config: eventsConfig,
  actions: eventsActions,
  ports: [{ field: "port", transport: "tcp" }],
  keepsFiles: ({ database }) => database === "",
  endpoints: ({ port, openToLan }) => endpointsAt(port, openToLan),
  snippets: eventsSnippets,
  async start(context) {
    const { startEvents } = await import("./start-events.ts");
    return startEvents(context, (port) => endpointsAt(port, context.config.openToLan));
  },
  async browse(context) {
    const { browseEvents } = await import("./start-events.ts");
    browseEvents(context);
  },
});
