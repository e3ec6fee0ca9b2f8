import type { AccountViews } from "../../../../contract/services/account.ts";
import { viewsOf } from "../../control/use-view.ts";

export const useAccountView = viewsOf<AccountViews>("account");

/** The user that the service's sample data begins with; documented, so no secret. */
export const sampleLogin = { username: "api@example.com", password: "backlot-demo" } as const;

export const exampleCommand = (origin: string): string =>
  `curl ${origin}/login -d username=${sampleLogin.username} -d password=${sampleLogin.password}`;
