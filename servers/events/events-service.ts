import { eventsActions } from "../../contract/services/events.ts";
import { httpDefinition } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { eventsConfig } from "./events-config.ts";
import { eventsSnippets } from "./events-snippets.ts";

const http = httpDefinition([
  { label: "Collect", path: "/events" },
  { label: "Stats", path: "/stats" },
]);

export const eventsService = defineService({
  id: "events",
  title: "Events",
  purpose: "Collects completion events, pages and statistics",
  rateUnit: "req/s",
  config: eventsConfig,
  actions: eventsActions,
  ...http,
  keepsFiles: ({ database }) => database === "",
  snippets: eventsSnippets,
  start: async (context) => (await import("./start-events.ts")).startEvents(context, http.endpoints),
  browse: {
    fields: ["database", "maxMebibytes", "databaseSeconds"],
    open: async (context) => (await import("./start-events.ts")).browseEvents(context),
  },
});
