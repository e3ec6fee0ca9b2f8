import type { CandidatePair } from "../room/connection-report.ts";
import type { CallState } from "../room/peer-call.ts";
import type { Tone } from "./controls.tsx";

export function bitRateText(bitsPerSecond: number): string {
  if (bitsPerSecond >= 1e6) return `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s`;
  return `${Math.round(bitsPerSecond / 1e3)} kbit/s`;
}

const counts = new Intl.NumberFormat("en");
export const countText = (count: number): string => counts.format(count);

const times = new Intl.DateTimeFormat([], { hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const timeText = (at: number): string => times.format(at);

export const millisecondsText = (ms: number): string => (ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`);

export const connectionTones: Readonly<Record<RTCPeerConnectionState, Tone>> = {
  new: "idle",
  connecting: "warn",
  connected: "ok",
  disconnected: "warn",
  failed: "bad",
  closed: "idle",
};

const connectionWords: Readonly<Record<RTCPeerConnectionState, string>> = {
  new: "New",
  connecting: "Connecting",
  connected: "Connected",
  disconnected: "Disconnected, trying again",
  failed: "Failed",
  closed: "Closed",
};

export const connectionText = (state: RTCPeerConnectionState): string => connectionWords[state];

/** A call is direct if neither end is a relay. How the other end reaches its relay is not known here. */
export function pathText({ local, remote }: CandidatePair): string {
  if (local.type === "relay") return `relay over ${local.protocol.toUpperCase()}`;
  return remote.type === "relay" ? "relay of the other end" : "direct";
}

/** Why there is no connection, as far as this end can tell. */
export function failureText({ connection, report, candidateProblems }: CallState, isRelayOnly: boolean): string | undefined {
  if (connection !== "failed") return undefined;
  const refused = candidateProblems.find(({ code }) => code === 401 || code === 403 || code === 486 || code === 508);
  if (refused) return `The relay was refused with ${refused.code}: ${refused.text || "no reason was given"}.`;
  if (candidateProblems.some(({ code }) => code === 701)) return "A STUN or TURN server did not answer. Try a relay over TCP or TLS.";
  if ((report?.pairs.length ?? 0) === 0)
    return isRelayOnly
      ? "No relay could be had, and other paths are switched off."
      : "The ends found no addresses to try with one another.";
  return "No pair of addresses lets data through. Try a relay.";
}
