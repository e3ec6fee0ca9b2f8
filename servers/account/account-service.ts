import type { Endpoint } from "../../contract/service.ts";
import { accountActions } from "../../contract/services/account.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import { defineService } from "../core/service/service.ts";
import { accountConfig } from "./account-config.ts";
import { accountSnippets } from "./account-snippets.ts";

const endpointsAt = (port: number, openToLan: boolean): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [{ label: "HTTP", url: `http://${host}:${port}` }]);

export const accountService = defineService({
  id: "account",
  title: "Account",
  purpose: "Login, JSON Web Tokens, Basic, details",
  config: accountConfig,
  actions: accountActions,
  ports: [{ field: "port", transport: "tcp" }],
  keepsFiles: () => true,
  endpoints: ({ port, openToLan }) => endpointsAt(port, openToLan),
  snippets: accountSnippets,
  async start(context) {
    const { startAccount } = await import("./start-account.ts");
    return startAccount(context, (port) => endpointsAt(port, context.config.openToLan));
  },
});
