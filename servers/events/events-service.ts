import { eventsActions } from "../../contract/services/events.ts";
import { httpDetails, httpEndpoints, httpPorts } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { eventsConfig } from "./events-config.ts";
import { eventsSnippets } from "./events-snippets.ts";

const paths = [
  { label: "Collect", path: "/events" },
  { label: "Stats", path: "/stats" },
];

export const eventsService = defineService({
  id: "events",
  title: "Events",
  purpose: "Collects completion events, pages and statistics",
  rateUnit: "req/s",
  config: eventsConfig,
  actions: eventsActions,
  details: httpDetails,
  ports: httpPorts,
  keepsFiles: ({ database }) => database === "",
  endpoints: (config) => httpEndpoints(config, paths),
  snippets: eventsSnippets,
  async start(context) {
    const { startEvents } = await import("./start-events.ts");
    return startEvents(context, (ports) => httpEndpoints({ ...context.config, ...ports }, paths));
  },
  async browse(context) {
    const { browseEvents } = await import("./start-events.ts");
    browseEvents(context);
  },
});
