import { httpActions } from "../../contract/services/http.ts";
import { httpDetails, httpEndpoints, httpPorts } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { httpConfig } from "./http-config.ts";
import { httpSnippets } from "./http-snippets.ts";

const paths = [{ label: "HTTP", path: "" }];

export const httpService = defineService({
  id: "http",
  title: "HTTP",
  purpose: "REST endpoints, server-sent events, WebSocket echo",
  rateUnit: "req/s",
  config: httpConfig,
  actions: httpActions,
  details: httpDetails,
  ports: httpPorts,
  endpoints: (config) => httpEndpoints(config, paths),
  snippets: httpSnippets,
  async start(context) {
    const { startHttp } = await import("./start-http.ts");
    return startHttp(context, (ports) => httpEndpoints({ ...context.config, ...ports }, paths));
  },
});
