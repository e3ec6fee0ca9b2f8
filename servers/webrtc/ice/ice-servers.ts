import type { IceServer } from "../../../contract/services/webrtc.ts";
import { issueCredentials } from "../turn/time-limited-credentials.ts";

export interface IceServersOptions {
  /** Undefined where TURN is off: then there are none. */
  readonly turn: { readonly port: number; readonly tlsPort: number } | undefined;
  readonly secret: string;
  readonly credentialSeconds: number;
}

/** The ICE servers for a client that has reached this computer by `host`, an IP address, with credentials in its name. */
export type IceServersFor = (host: string, user: string) => readonly IceServer[];

export function createIceServers({ turn, secret, credentialSeconds }: IceServersOptions): IceServersFor {
  return (host, user) => {
    const [stun, relays] = iceUrls(turn, host);
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
