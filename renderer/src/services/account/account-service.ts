import type { AccountViews } from "../../../../contract/services/account.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useAccountView = viewsOf<AccountViews>("account");

/** The user that the service's sample data begins with; documented, so no secret. */
export const sampleLogin = { username: "api@example.com", password: "backlot-demo" } as const;

export const exampleCommand = (origin: string): string =>
  `curl ${origin}/login -d username=${sampleLogin.username} -d password=${sampleLogin.password}`;

/** The user whose sessions another tab asked to see; taken once. */
let asked: string | undefined;

export function askForUser(email: string): void {
  asked = email;
}

export function takeAskedUser(): string | undefined {
  const email = asked;
  asked = undefined;
  return email;
}
