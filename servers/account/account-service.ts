import { accountActions } from "../../contract/services/account.ts";
import { httpDetails, httpEndpoints, httpPorts } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { accountConfig } from "./account-config.ts";
import { accountSnippets } from "./account-snippets.ts";

const paths = [{ label: "HTTP", path: "" }];

export const accountService = defineService({
  id: "account",
  title: "Account",
  purpose: "Login, JSON Web Tokens, Basic, details",
  rateUnit: "req/s",
  config: accountConfig,
  actions: accountActions,
  details: httpDetails,
  ports: httpPorts,
  keepsFiles: () => true,
  endpoints: (config) => httpEndpoints(config, paths),
  snippets: accountSnippets,
  async start(context) {
    const { startAccount } = await import("./start-account.ts");
    return startAccount(context, (ports) => httpEndpoints({ ...context.config, ...ports }, paths));
  },
});
