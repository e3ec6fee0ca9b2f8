import type { AccountViews } from "../../../../contract/services/account.ts";
import { viewsOf } from "../../control/use-store.ts";
import { createHandover } from "../../pages/service/handover.ts";

export const useAccountView = viewsOf<AccountViews>("account");

/** The user that the service's sample data begins with; documented, so no secret. */
export const sampleLogin = { username: "api@example.com", password: "backlot-demo" } as const;

export const exampleCommand = (origin: string): string =>
  `curl ${origin}/login -d username=${sampleLogin.username} -d password=${sampleLogin.password}`;

/** Addresses of users whose sessions are to be shown in the tab Sessions. */
export const requestedUsers = createHandover<string>();
