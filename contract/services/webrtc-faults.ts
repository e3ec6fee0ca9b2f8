/** Faults on demand of the WebRTC service: of the signalling of a peer, of a relay, of TURN. docs/webrtc-faults.md explains them. */
import { z } from "zod";
import { operation } from "../operation.ts";

const percent = z.number().min(0.1).max(100);
export const mostFaultDelayMs = 60_000;
const delayMs = z.int().min(1).max(mostFaultDelayMs);

/** Which signals: offers and answers, candidates, or all, also those of other kinds. */
export const faultySignals = ["all", "descriptions", "candidates"] as const;
export type FaultySignals = (typeof faultySignals)[number];
const signals = z.enum(faultySignals).default("all");

/** RFC 8489 and RFC 8656: the errors that a client may meet. */
export const refusalCodes = [300, 400, 401, 403, 420, 437, 438, 440, 441, 442, 486, 500, 508] as const;
export type RefusalCode = (typeof refusalCodes)[number];

const turnFaults = [
  /** New allocations get this error code. */
  z.strictObject({ kind: z.literal("refuse"), code: z.literal(refusalCodes) }),
  /** Right credentials are treated as wrong: new allocations, and the refresh of those that are open, get 401. */
  z.strictObject({ kind: z.literal("credentials") }),
] as const;
/** Of all users of TURN. */
export const turnFault = z.discriminatedUnion("kind", turnFaults);
export type TurnFault = z.output<typeof turnFault>;

/** Of the signals from and to one peer; what concerns TURN is of the credentials that its welcome had. */
export const peerFault = z.discriminatedUnion("kind", [
  /** So many of the signals are left out. */
  z.strictObject({ kind: z.literal("drop"), percent, signals }),
  /** Signals arrive so much later, in their order. */
  z.strictObject({ kind: z.literal("delay"), delayMs, signals }),
  /** So many of the signals arrive twice. */
  z.strictObject({ kind: z.literal("duplicate"), percent, signals }),
  /** So many of the signals arrive after the one that follows. */
  z.strictObject({ kind: z.literal("reorder"), percent, signals }),
  ...turnFaults,
]);
export type PeerFault = z.output<typeof peerFault>;

/** Of the data of one relay, in both directions. */
export const relayFault = z.discriminatedUnion("kind", [
  /** Nothing passes. The allocation stays, and requests are answered. */
  z.strictObject({ kind: z.literal("cut") }),
  /** So many of the datagrams are left out. */
  z.strictObject({ kind: z.literal("loss"), percent }),
  /** Datagrams arrive so much later. */
  z.strictObject({ kind: z.literal("delay"), delayMs }),
]);
export type RelayFault = z.output<typeof relayFault>;

const kindsOf = <Kind extends string>(
  options: readonly { readonly shape: { readonly kind: { readonly value: Kind } } }[],
): readonly Kind[] => options.map(({ shape }) => shape.kind.value);
export const peerFaultKinds = kindsOf<PeerFault["kind"]>(peerFault.options);
export const relayFaultKinds = kindsOf<RelayFault["kind"]>(relayFault.options);
export const turnFaultKinds = kindsOf<TurnFault["kind"]>(turnFault.options);

/** Ends by itself after this time; without one it lasts until it is released, or its peer or relay is gone. */
export const faultTime = z.int().min(1).max(86_400_000).exactOptional();
/** The same signals are chosen for the same seed; without one it is random. */
export const faultSeed = z.string().min(1).max(100).exactOptional();

export interface WebrtcActiveFault<Fault> {
  readonly fault: Fault;
  /** Milliseconds since the epoch; absent where it lasts until it is released. */
  readonly until?: number;
}

export interface WebrtcFaultViews {
  readonly faults: {
    readonly peers: readonly { readonly peer: string; readonly faults: readonly WebrtcActiveFault<PeerFault>[] }[];
    /** By the number of the allocation. */
    readonly relays: readonly { readonly allocation: number; readonly faults: readonly WebrtcActiveFault<RelayFault>[] }[];
    readonly turn: readonly WebrtcActiveFault<TurnFault>[];
  };
}

const peer = z.string().min(1).max(500);
const allocation = z.int().min(1);
const released = operation<{ readonly released: boolean }>();
const started = operation<{ readonly started: boolean }>();

export const webrtcFaultActions = {
  /** A second fault of the same kind replaces the first. False where there is no such peer. */
  "peer.fault": started(z.strictObject({ peer, fault: peerFault, forMs: faultTime, seed: faultSeed })),
  /** False where there is no such allocation. */
  "relay.fault": started(z.strictObject({ allocation, fault: relayFault, forMs: faultTime })),
  /** For all users. */
  "turn.fault": started(z.strictObject({ fault: turnFault, forMs: faultTime })),
  /** Ends the faults of the peer now, or the one of a kind. */
  "peer.release": released(z.strictObject({ peer, kind: z.enum(peerFaultKinds).exactOptional() })),
  "relay.release": released(z.strictObject({ allocation, kind: z.enum(relayFaultKinds).exactOptional() })),
  "turn.release": released(z.strictObject({ kind: z.enum(turnFaultKinds).exactOptional() })),
};
