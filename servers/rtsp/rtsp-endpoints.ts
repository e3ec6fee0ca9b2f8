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
  rtmp,
  rtmpPort,
  openToLan,
}: Pick<RtspConfig, "port" | "httpPort" | "tls" | "tlsPort" | "rtmp" | "rtmpPort" | "openToLan">): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => {
    const rtsp = (path: string): Endpoint => ({ label: "RTSP", url: `rtsp://${host}:${port}/${path}` });
    return [
      rtsp(testPaths[0]),
      // HLS and management; second, because a card shows two addresses.
      { label: "HTTP", url: `http://${host}:${httpPort}` },
      ...testPaths.slice(1).map(rtsp),
      ...(tls ? testPaths.map((path) => ({ label: "RTSPS", url: `rtsps://${host}:${tlsPort}/${path}` })) : []),
      ...(rtmp ? [{ label: "RTMP", url: `rtmp://${host}:${rtmpPort}/live` }] : []),
    ];
  });
