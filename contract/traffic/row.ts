/** Rows and counters of a service's traffic. */
import type { ServiceId } from "../service.ts";
import type { DetailKind } from "./detail.ts";

/** How an exchange ended, for its colour and its shape; `neutral` is neither done nor refused, such as a redirect. */
export type Tone = "pending" | "ok" | "neutral" | "refused" | "failed" | "aborted";

/** Most bytes of `preview` in a row; the rest is read on request. */
export const previewBytes = 256;

/**
 * One row of a live view: a request, a message, a call. Small and flat; the rest is its detail.
 * A row that was sent while pending is sent again, with the same `id`, when it ends, and before that at most once a second when it changes.
 */
export interface TrafficRow {
  /** Counts up within a service; given by the service, never reused in a run. */
  readonly id: number;
  readonly service: ServiceId;
  /** The parent row, in the same service: a WebSocket message names its connection. */
  readonly parent?: number;
  /** Milliseconds since the epoch at which it began. */
  readonly at: number;
  /** The kind of its detail. */
  readonly kind: DetailKind;
  /** HTTP method, RPC pattern or packet type. */
  readonly verb: string;
  /** Path, method name or topic; of other protocols what the client addresses, such as the URL of a stream, or the peer of a datagram. */
  readonly target: string;
  readonly tone: Tone;
  /** Status code or reason in the protocol's own words: "200", "OK", "client left". */
  readonly outcome: string;
  /** Absent while pending. */
  readonly tookMs?: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Parts so far, kept or not: when it grows, `traffic.parts` has more. Absent without parts. */
  readonly parts?: number;
  /** Client software as it calls itself, shortened: "curl", "okhttp". */
  readonly client: string;
  /** Remote address and port: "127.0.0.1:53110". */
  readonly peer: string;
  /** Start of what was sent or received, as text; at most `previewBytes`. */
  readonly preview: string;
  /** The user, if the service knows: an e-mail address. */
  readonly user?: string;
  /** Why it was refused, in the service's own words. */
  readonly reason?: string;
  /** What the peer calls itself that `target`, or of credentials `user`, identifies, if the service knows. */
  readonly peerName?: string;
  readonly media?: RowMedia;
}

/** Figures of a session of media, with its row: they are shown as long as the row is. While it is open, the service may have newer ones. */
export interface RowMedia {
  /** "TCP", "HLS" */
  readonly over: string;
  /** 0 to 1, of the whole session: of what the receiver has reported, or of what a publisher has sent. Absent without a report. */
  readonly lossFraction?: number;
  /** The last one; the worst track. */
  readonly jitterMs?: number;
}

/** Once a second for each running service. */
export interface RateSample {
  readonly service: ServiceId;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Requests, messages, events or Mbit; in the unit of `ServiceView.rateUnit`. */
  readonly itemsPerSecond: number;
  readonly bytesInPerSecond: number;
  readonly bytesOutPerSecond: number;
  /** Open connections or sessions. Absent for a service without them. */
  readonly clients?: number;
  /** Since the service started. */
  readonly total: number;
  /** How many of `total` were dropped before they could be shown. */
  readonly dropped: number;
  /** Further figures of the service, in the order in which they are shown. */
  readonly figures: readonly Figure[];
  /** One line: "p95 4.9 ms · 5xx: 9 of 12,480". */
  readonly note: string;
}

/** "1,204 msg/s sent", "38 retained". */
export interface Figure {
  readonly label: string;
  readonly value: number;
  /** "msg/s", "B/s", "ms": with "/s" where it is a rate. Empty for a plain count. */
  readonly unit: string;
}

export interface ProcessSample {
  readonly at: number;
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly residentBytes: number }[];
}
