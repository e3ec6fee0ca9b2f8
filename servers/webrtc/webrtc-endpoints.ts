import type { Endpoint } from "../../contract/service.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import type { WebrtcConfig } from "./webrtc-config.ts";

type PortConfig = Pick<WebrtcConfig, "port" | "media" | "turn" | "turnPort" | "turns" | "turnsPort" | "openToLan">;

export const webrtcEndpoints = ({ port, media, turn, turnPort, turns, turnsPort, openToLan }: PortConfig): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [
    { label: "WS", url: `ws://${host}:${port}/ws` },
    // Clients use UDP for a URI without a transport.
    ...(turn ? [{ label: "TURN", url: `turn:${host}:${turnPort}` }] : []),
    { label: "WSS", url: `wss://${host}:${port}/ws` },
    ...(turn ? [{ label: "TURN", url: `turn:${host}:${turnPort}?transport=tcp` }] : []),
    ...(turn && turns ? [{ label: "TURNS", url: `turns:${host}:${turnsPort}?transport=tcp` }] : []),
    { label: "HTTPS", url: `https://${host}:${port}` },
    ...(media ? [{ label: "WHEP", url: `http://${host}:${port}/whep/test` }] : []),
  ]);
