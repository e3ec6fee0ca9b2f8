/** Faults on demand of the RTSP service: what a path or a session does wrong for a time. docs/rtsp-faults.md explains them. */
import { z } from "zod";
import { operation } from "../operation.ts";

export const faultStatuses = [401, 404, 454, 461] as const;
export type FaultStatus = (typeof faultStatuses)[number];

/** What is wrong in a description: it is cut, has other parameter sets or payload types than the stream, or controls of tracks that do not exist. */
export const descriptionFlaws = ["cut", "parameter-sets", "payload-types", "controls"] as const;
export type DescriptionFlaw = (typeof descriptionFlaws)[number];

const percent = z.number().min(0.1).max(100);
export const mostFaultDelayMs = 60_000;
export const mostJumpMs = 86_400_000;

const sessionFaults = [
  /** So many of the packets are left out. */
  z.strictObject({ kind: z.literal("loss"), percent }),
  /** Packets and reports are sent so much later. */
  z.strictObject({ kind: z.literal("delay"), delayMs: z.int().min(1).max(mostFaultDelayMs) }),
  /** Each packet is sent by a random time later, at most this; their order stays. */
  z.strictObject({ kind: z.literal("jitter"), jitterMs: z.int().min(1).max(mostFaultDelayMs) }),
  /** So many of the packets are sent after the three that follow them. */
  z.strictObject({ kind: z.literal("reorder"), percent }),
  /** Nothing is sent; requests are answered. */
  z.strictObject({ kind: z.literal("stall") }),
  /** Pictures that a decoder could start with are left out. */
  z.strictObject({ kind: z.literal("drop-key-frames") }),
  /** The last key frame is sent in place of each picture; sound and time go on. */
  z.strictObject({ kind: z.literal("freeze") }),
  /** Timestamps are so much later, or earlier. */
  z.strictObject({
    kind: z.literal("jump"),
    jumpMs: z
      .int()
      .min(-mostJumpMs)
      .max(mostJumpMs)
      .refine((jumpMs) => jumpMs !== 0, "A jump of 0 is none."),
  }),
  /** Connections are closed without a word: of a session now, of a path also with each request. */
  z.strictObject({ kind: z.literal("close") }),
  /** Requests are answered with it: 454 those that name a session, 461 SETUP, the others all but OPTIONS. */
  z.strictObject({ kind: z.literal("status"), status: z.literal(faultStatuses) }),
] as const;
const descriptionFault = z.strictObject({ kind: z.literal("description"), flaw: z.enum(descriptionFlaws) });

export const rtspFault = z.discriminatedUnion("kind", [...sessionFaults, descriptionFault]);
export type RtspFault = z.output<typeof rtspFault>;
export type RtspFaultKind = RtspFault["kind"];
export const faultKinds = rtspFault.options.map(({ shape }) => shape.kind.value) as readonly RtspFaultKind[];

/** What a session that publishes can have: it is sent no packets. */
export const publisherFaults: ReadonlySet<RtspFaultKind> = new Set(["close", "status"]);
/** What a session of multicast can have of its own: the packets are those of the whole group. */
export const multicastSessionFaults: ReadonlySet<RtspFaultKind> = new Set(["close", "status"]);
/** What readers of HLS and MPEG-TS have of the faults of their path: they get no packets of RTP, and no times that jump, which HLS cannot have. */
export const httpReaderFaults: ReadonlySet<RtspFaultKind> = new Set(["delay", "stall", "drop-key-frames", "freeze", "close", "status"]);

/** Ends by itself after this time. */
export const faultTime = z.int().min(1).max(3_600_000).default(60_000);
/** The same packets are affected for the same seed; without one it is random. */
export const faultSeed = z.string().min(1).max(100).exactOptional();

export interface RtspActiveFault {
  readonly fault: RtspFault;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface RtspFaultViews {
  readonly faults: {
    readonly paths: readonly { readonly path: string; readonly faults: readonly RtspActiveFault[] }[];
    /** `row` is the session's `TrafficRow.id`. */
    readonly sessions: readonly { readonly row: number; readonly faults: readonly RtspActiveFault[] }[];
  };
}

const path = z.string().min(1).max(500);
const row = z.int().min(0);

export const rtspFaultActions = {
  /** For all sessions of a path, also those to come. A second fault of the same kind replaces the first. */
  "path.fault": operation<null>()(z.strictObject({ path, fault: rtspFault, forMs: faultTime, seed: faultSeed })),
  /** For the session of a row. False where it has ended, or where it cannot have the fault. */
  "session.fault": operation<{ readonly started: boolean }>()(
    z.strictObject({ row, fault: z.discriminatedUnion("kind", sessionFaults), forMs: faultTime, seed: faultSeed }),
  ),
  /** Ends the faults of the path now. */
  "path.release": operation<{ readonly released: boolean }>()(z.strictObject({ path })),
  "session.release": operation<{ readonly released: boolean }>()(z.strictObject({ row })),
};
