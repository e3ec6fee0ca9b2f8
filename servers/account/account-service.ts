import { accountActions } from "../../contract/services/account.ts";
import { httpDefinition } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { accountConfig } from "./account-config.ts";
import { accountSnippets } from "./account-snippets.ts";

const http = httpDefinition([{ label: "HTTP", path: "" }]);

export const accountService = defineService({
  id: "account",
  title: "Account",
  purpose: "Login, JSON Web Tokens, Basic, details",
  rateUnit: "req/s",
  config: accountConfig,
  actions: accountActions,
  ...http,
  keepsFiles: () => true,
  snippets: accountSnippets,
  start: async (context) => (await import("./start-account.ts")).startAccount(context, http.endpoints),
});
