/** Who sent what to whom: the signals that the ladder shows and the ICE check reads. */
import { z } from "zod";
import { operation } from "../operation.ts";
import type { WebrtcDialect, WebrtcSignalKind } from "../traffic/webrtc.ts";
import type { IceCheck } from "./webrtc-ice-check.ts";

export interface LadderSignal {
  /** `TrafficRow.id` */
  readonly row: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: WebrtcSignalKind;
  readonly dialect: WebrtcDialect;
  /** Identifiers of peers, "service" for a message of the dashboard; `to` is absent where it went to a room. */
  readonly from: string;
  readonly to?: string;
  readonly room?: string;
  /** "delivered", "passed on" to another instance, "joined", "dropped by a fault", "delayed" while a fault holds it back, or the code of the refusal. */
  readonly outcome: string;
  /** It reached nobody. */
  readonly isLost?: true;
  /** The peer's connection has ended, for the reason in `outcome`: it is in no room any more, and the row is the peer's own. */
  readonly isEnd?: true;
  /** Of a client of sample traffic. */
  readonly isSample?: true;
  readonly bytes: number;
  /** What it carries: "audio, video" of a description, "relay udp 127.0.0.1:50112" of a candidate, the start of a chat message. */
  readonly summary: string;
}

export interface LadderAnswer {
  /** In the order in which they came; the newest ones. */
  readonly signals: readonly LadderSignal[];
  /** How many more match. */
  readonly more: number;
  /** Names of the peers in them, by identifier; also of those that have left. */
  readonly names: Readonly<Record<string, string>>;
  /** Those of them that are connected no more. */
  readonly left: readonly string[];
  /** Those of them whose name another peer has or had, too, as far as signals are kept. */
  readonly namesakes: readonly string[];
}

/** The other descriptions that belong to one: rows, absent where there is none, or it is no longer kept. */
export interface RelatedDescriptions {
  /** Of an answer its offer, of an offer its answer. */
  readonly counterpart?: number;
  /** The last one before it from the same peer to the same one. */
  readonly previous?: number;
}

export interface WebrtcSignalViews {
  /**
   * `total`: all since the start, and those of earlier runs that were kept. `version` grows with it, and with what becomes of a signal that was held back:
   * then the ladder is another one.
   */
  readonly signals: { readonly total: number; readonly version: number };
}

export const mostLadderSignals = 2_000;
const peer = z.string().min(1).max(200);

export const webrtcSignalActions = {
  /** Those of a room, or between the peers; all of them without either. */
  "signals.list": operation<LadderAnswer>()(
    z.strictObject({
      room: z.string().min(1).max(500).exactOptional(),
      peers: z.array(peer).min(1).max(2).exactOptional(),
      withoutSample: z.boolean().default(false),
      limit: z.int().min(1).max(mostLadderSignals).default(500),
    }),
  ),
  "signals.related": operation<RelatedDescriptions>()(z.strictObject({ row: z.int().min(0) })),
  /** Why the connection of two peers failed, or would. Null where one of them is not known, or no longer. */
  "ice.check": operation<IceCheck | null>()(z.strictObject({ peers: z.tuple([peer, peer]) })),
};
