import type { Endpoint } from "../../../contract/service.ts";
import { reachableEndpoints } from "../net/reachable-endpoints.ts";

export interface HttpAddress {
  readonly port: number;
  readonly https: boolean;
  readonly httpsPort: number;
  readonly openToLan: boolean;
}

/** For a service's definition: its port and, where HTTPS is on, the second one. */
export const httpPorts = [
  { field: "port", transport: "tcp" },
  { field: "httpsPort", transport: "tcp", isUsed: ({ https }: { readonly https: boolean }) => https },
] as const;

/** The paths over HTTP and, where it is on, over HTTPS. */
export function httpEndpoints(
  { port, https, httpsPort, openToLan }: HttpAddress,
  paths: readonly { readonly label: string; readonly path: string }[],
): readonly Endpoint[] {
  const secureLabel = (label: string) => (label === "HTTP" ? "HTTPS" : `${label} (HTTPS)`);
  return reachableEndpoints(openToLan, (host) => [
    ...paths.map(({ label, path }) => ({ label, url: `http://${host}:${port}${path}` })),
    ...(https ? paths.map(({ label, path }) => ({ label: secureLabel(label), url: `https://${host}:${httpsPort}${path}` })) : []),
  ]);
}
