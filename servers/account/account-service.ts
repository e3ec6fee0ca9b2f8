import { accountActions } from "../../contract/account.ts";
import type { Endpoint } from "../../contract/service.ts";
import { defineService } from "../core/service.ts";
import { accountConfig } from "./account-config.ts";
import { accountSnippets } from "./account-snippets.ts";

const endpointsAt = (port: number): readonly Endpoint[] => [{ label: "HTTP", url: `http://127.0.0.1:${port}` }];

export const accountService = defineService({
  id: "account",
  title: "Account",
  purpose: "Login, JSON Web Tokens, Basic, details",
  config: accountConfig,
  actions: accountActions,
  ports: ["port"],
  endpoints: ({ port }) => endpointsAt(port),
  snippets: accountSnippets,
  async start(context) {
    const { startAccount } = await import("./start-account.ts");
    return startAccount(context, endpointsAt);
  },
});
