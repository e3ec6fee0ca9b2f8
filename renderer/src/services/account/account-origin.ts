import type { ServiceView } from "../../../../contract/service.ts";

/** Where the service listens, or would: without a slash at its end. */
export function accountOrigin(service: ServiceView | undefined): string {
  const endpoints = service?.status.state === "running" ? service.status.endpoints : service?.plannedEndpoints;
  return new URL(endpoints?.[0]?.url ?? "http://127.0.0.1:8081").origin;
}

/** The user that the service's sample data begins with; documented, so no secret. */
export const sampleLogin = { username: "api@example.com", password: "backlot-demo" } as const;

export const exampleCommand = (origin: string): string =>
  `curl ${origin}/login -d username=${sampleLogin.username} -d password=${sampleLogin.password}`;
