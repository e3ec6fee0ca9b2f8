import { httpActions } from "../../contract/services/http.ts";
import { httpDefinition } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { httpConfig } from "./http-config.ts";
import { httpSnippets, webSocketPath } from "./http-snippets.ts";

const http = httpDefinition([
  { label: "HTTP", path: "" },
  { label: "WS", path: webSocketPath, isWebSocket: true },
]);

export const httpService = defineService({
  id: "http",
  title: "HTTP",
  purpose: "REST endpoints, server-sent events, WebSocket echo",
  rateUnit: "req/s",
  config: httpConfig,
  actions: httpActions,
  ...http,
  snippets: httpSnippets,
  start: async (context) => (await import("./start-http.ts")).startHttp(context, http.endpoints),
});
