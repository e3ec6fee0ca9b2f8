import type { Endpoint } from "../../../contract/service.ts";
import { reachableEndpoints } from "../net/reachable-endpoints.ts";
import type { DetailDecoders } from "../traffic/detail-decoder.ts";

export interface HttpAddress {
  readonly port: number;
  readonly https: boolean;
  readonly httpsPort: number;
  readonly openToLan: boolean;
}

/** What an HTTP service shows of itself: a URL for each of these paths. */
export type HttpPaths = readonly { readonly label: string; readonly path: string; readonly isWebSocket?: boolean }[];

/** The HTTP port and, if HTTPS is on, its port. */
const ports = [
  { field: "port", transport: "tcp" },
  { field: "httpsPort", transport: "tcp", isUsed: ({ https }: { readonly https: boolean }) => https },
] as const;

/** Endpoints of the paths over HTTP and, if it is on, over HTTPS. */
function httpEndpoints({ port, https, httpsPort, openToLan }: HttpAddress, paths: HttpPaths): readonly Endpoint[] {
  const secureLabel = (label: string) => (label === "HTTP" || label === "WS" ? `${label}S` : `${label} (HTTPS)`);
  return reachableEndpoints(openToLan, (host) => {
    const of = (shown: HttpPaths, scheme: string): Endpoint[] => [
      ...shown.map(({ label, path }) => ({ label, url: `${scheme}://${host}:${port}${path}` })),
      ...(https ? shown.map(({ label, path }) => ({ label: secureLabel(label), url: `${scheme}s://${host}:${httpsPort}${path}` })) : []),
    ];
    return [
      ...of(
        paths.filter(({ isWebSocket }) => !isWebSocket),
        "http",
      ),
      ...of(
        paths.filter(({ isWebSocket }) => isWebSocket),
        "ws",
      ),
    ];
  });
}

/** Decoders of the kinds of detail that every HTTP service records. */
const details: DetailDecoders = {
  http: async () => (await import("./messages/decode-http.ts")).httpDecoder,
  websocket: async () => (await import("./messages/decode-http.ts")).webSocketDecoder,
  "websocket-message": async () => (await import("./messages/decode-http.ts")).webSocketMessageDecoder,
};

/** The parts of its definition that every HTTP service has. */
export const httpDefinition = (paths: HttpPaths) => ({
  details,
  ports,
  endpoints: (config: HttpAddress) => httpEndpoints(config, paths),
});
