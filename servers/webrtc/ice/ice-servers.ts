import { isIPv4 } from "node:net";
import type { IceServer } from "../../../contract/services/webrtc.ts";
import { isLoopback } from "../turn/peer-policy.ts";
import { issueCredentials } from "../turn/time-limited-credentials.ts";

export interface IceServersOptions {
  /** Undefined where TURN is off: then there are none. */
  readonly turn: { readonly port: number; readonly tlsPort: number } | undefined;
  /** By which clients of other computers reach this one over IPv4, if that is not an address of its own; else empty. */
  readonly publicAddress: string;
  readonly secret: string;
  readonly credentialSeconds: number;
}

/** The ICE servers for a client that has reached this computer by `host`, an IP address, with credentials in its name. */
export type IceServersFor = (host: string, user: string) => readonly IceServer[];

export function createIceServers({ turn, publicAddress, secret, credentialSeconds }: IceServersOptions): IceServersFor {
  const reachable = (host: string) => (publicAddress !== "" && isIPv4(host) && !isLoopback(host) ? publicAddress : host);
  return (host, user) => {
    const [stun, relays] = iceUrls(turn, reachable(host));
    if (!stun || !relays) return [];
    const { username, credential } = issueCredentials(secret, user, credentialSeconds);
    return [{ urls: stun }, { urls: relays, username, credential }];
  };
}

/** Of STUN, and of TURN; none where it is off. */
export function iceUrls(turn: IceServersOptions["turn"], host: string): readonly (readonly string[])[] {
  if (!turn) return [];
  const at = host.includes(":") ? `[${host}]` : host;
  const { port, tlsPort } = turn;
  return [
    [`stun:${at}:${port}`],
    [
      `turn:${at}:${port}?transport=udp`,
      `turn:${at}:${port}?transport=tcp`,
      ...(tlsPort === 0 ? [] : [`turns:${at}:${tlsPort}?transport=tcp`]),
    ],
  ];
}
