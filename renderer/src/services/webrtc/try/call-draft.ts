import { z } from "zod";
import type { IceServer } from "../../../../../contract/services/webrtc.ts";

export const relayTransports = ["udp", "tcp", "tls"] as const;
export type RelayTransport = (typeof relayTransports)[number];

/** The form. */
export interface CallDraft {
  /** Any way that ICE finds, or by relays only. */
  readonly way: "any" | "relay";
  /** To the relay. */
  readonly transport: RelayTransport;
  readonly video: boolean;
  readonly data: boolean;
}

export const callDraftSchema: z.ZodType<CallDraft> = z.object({
  way: z.enum(["any", "relay"]),
  transport: z.enum(relayTransports),
  video: z.boolean(),
  data: z.boolean(),
});

export const firstCall: CallDraft = { way: "relay", transport: "udp", video: true, data: true };

const isRelay: Readonly<Record<RelayTransport, (url: string) => boolean>> = {
  udp: (url) => url.startsWith("turn:") && !url.includes("transport=tcp"),
  tcp: (url) => url.startsWith("turn:") && url.includes("transport=tcp"),
  tls: (url) => url.startsWith("turns:"),
};

/** What a peer's connection gets of the servers of its welcome. */
export function configurationOf({ way, transport }: CallDraft, servers: readonly IceServer[]): RTCConfiguration {
  const iceServers = servers.flatMap(({ urls, username, credential }): RTCIceServer[] => {
    const wanted = way === "any" ? [...urls] : urls.filter(isRelay[transport]);
    if (wanted.length === 0) return [];
    return [{ urls: wanted, ...(username !== undefined && { username }), ...(credential !== undefined && { credential }) }];
  });
  return { iceServers, iceTransportPolicy: way === "any" ? "all" : "relay" };
}

/** Whether the service has a relay over this transport. */
export const offersRelay = (servers: readonly IceServer[], transport: RelayTransport): boolean =>
  servers.some(({ urls }) => urls.some(isRelay[transport]));
