import type { Endpoint } from "../../contract/service.ts";
import { httpActions } from "../../contract/services/http.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import { defineService } from "../core/service/service.ts";
import { httpConfig } from "./http-config.ts";
import { httpSnippets } from "./http-snippets.ts";

const endpointsAt = (port: number, openToLan: boolean): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [{ label: "HTTP", url: `http://${host}:${port}` }]);

export const httpService = defineService({
  id: "http",
  title: "HTTP",
  purpose: "REST endpoints, server-sent events, WebSocket echo",
  config: httpConfig,
  actions: httpActions,
  ports: [{ field: "port", transport: "tcp" }],
  endpoints: ({ port, openToLan }) => endpointsAt(port, openToLan),
  snippets: httpSnippets,
  async start(context) {
    const { startHttp } = await import("./start-http.ts");
    return startHttp(context, (port) => endpointsAt(port, context.config.openToLan));
  },
});
