/** Which way a call may take. */
export const relayChoices = ["any", "udp", "tcp", "tls"] as const;
export type RelayChoice = (typeof relayChoices)[number];

export const relayTitles: Readonly<Record<RelayChoice, string>> = {
  any: "Any path",
  udp: "Relay over UDP",
  tcp: "Relay over TCP",
  tls: "Relay over TLS",
};

/** "turn:127.0.0.1:3478?transport=tcp" → "tcp" (RFC 7065). */
export function relayTransportOf(url: string): Exclude<RelayChoice, "any"> | undefined {
  if (url.startsWith("turns:")) return "tls";
  if (!url.startsWith("turn:")) return undefined;
  return /[?&]transport=tcp\b/.test(url) ? "tcp" : "udp";
}

/** The servers of the welcome, as far as the choice lets them be used. */
export function configurationFor(servers: readonly RTCIceServer[], choice: RelayChoice): RTCConfiguration {
  if (choice === "any") return { iceServers: [...servers], iceTransportPolicy: "all" };
  const iceServers = servers.flatMap((server) => {
    const urls = [server.urls].flat().filter((url) => relayTransportOf(url) === choice);
    return urls.length > 0 ? [{ ...server, urls }] : [];
  });
  return { iceServers, iceTransportPolicy: "relay" };
}

/** Undefined where the welcome offers it; else what is missing, in words. */
export function whyNoRelay(servers: readonly RTCIceServer[], choice: RelayChoice): string | undefined {
  if (choice === "any" || configurationFor(servers, choice).iceServers?.length) return undefined;
  if (servers.length === 0) return "The server offers no TURN. Switch STUN and TURN on in Config of the WebRTC service.";
  return choice === "tls"
    ? "The server offers no TURN over TLS. Switch TURN over TLS on in Config of the WebRTC service."
    : `The server offers no TURN over ${choice.toUpperCase()}.`;
}
