import type { Endpoint } from "../../contract/service.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import type { RtspConfig } from "./rtsp-config.ts";

/** The paths that are always there. */
export const testPaths = ["stream", "test"] as const;

export const rtspEndpoints = ({
  port,
  httpPort,
  tls,
  tlsPort,
  openToLan,
}: Pick<RtspConfig, "port" | "httpPort" | "tls" | "tlsPort" | "openToLan">): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [
    ...testPaths.map((path) => ({ label: `RTSP /${path}`, url: `rtsp://${host}:${port}/${path}` })),
    { label: "HLS and management", url: `http://${host}:${httpPort}` },
    ...(tls ? testPaths.map((path) => ({ label: `RTSPS /${path}`, url: `rtsps://${host}:${tlsPort}/${path}` })) : []),
  ]);
