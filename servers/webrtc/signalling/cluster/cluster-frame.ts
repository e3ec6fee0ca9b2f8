import { z } from "zod";
import { webrtcDialects } from "../../../../contract/traffic/webrtc.ts";
import type { Peer } from "../peer.ts";
import type { Room } from "../room.ts";
import type { CandidateInit } from "../signalling-event.ts";

const id = z.string().min(1).max(1_000);
const room = z.strictObject({
  name: id,
  since: z.number(),
  password: z.strictObject({ salt: z.base64(), digest: z.base64() }).optional(),
});
const peer = z.strictObject({ id, name: z.string().max(1_000), dialect: z.enum(webrtcDialects), since: z.number() });
const chat = z.strictObject({
  type: z.literal("chat"),
  from: z.string(),
  name: z.string(),
  text: z.string(),
  at: z.number(),
  room: z.string().optional(),
  isHistory: z.literal(true).optional(),
});
const candidate = z.custom<CandidateInit>(
  (value) => typeof value === "object" && value !== null && "candidate" in value && typeof value.candidate === "string",
);
const signal = z.strictObject({
  kind: z.enum(["offer", "answer", "candidate", "other"]),
  sdp: z.string().optional(),
  candidate: candidate.nullable().optional(),
  dialect: z.enum(webrtcDialects),
  payload: z.unknown(),
});
const signalEvent = z.strictObject({ type: z.literal("signal"), from: id, room: id.optional(), signal });

/** What instances tell one another. */
const frame = z.discriminatedUnion("type", [
  /** It has come, or is back, and asks all others for what they have. */
  z.strictObject({ type: z.literal("hello") }),
  /** It is alive. */
  z.strictObject({ type: z.literal("beat") }),
  /** It stops. */
  z.strictObject({ type: z.literal("gone") }),
  /** A part of all that it has; with the last one, what is in none of them is no more. */
  z.strictObject({
    type: z.literal("state"),
    isFirst: z.boolean(),
    isLast: z.boolean(),
    members: z.array(z.strictObject({ room, peer })),
  }),
  z.strictObject({ type: z.literal("history"), room: id, chat: z.array(chat) }),
  z.strictObject({ type: z.literal("joined"), room, peer }),
  z.strictObject({ type: z.literal("left"), room: id, peer: id }),
  z.strictObject({ type: z.literal("said"), room: id, event: chat }),
  z.strictObject({ type: z.literal("closed"), room: id }),
  /** For the members of a room that are connected to the receiving instance, and not in one of the rooms beside it. */
  z.strictObject({ type: z.literal("broadcast"), room: id, event: signalEvent, beside: z.array(id).optional() }),
  /** For peers that are connected to it. */
  z.strictObject({ type: z.literal("deliver"), to: z.array(id), event: z.discriminatedUnion("type", [signalEvent, chat]) }),
]);
export type ClusterFrame = z.output<typeof frame>;
export type MemberFrame = Extract<ClusterFrame, { type: "joined" }>;

/** Undefined for what is no frame. */
export const parseFrame = (value: unknown): ClusterFrame | undefined => frame.safeParse(value).data;

export const memberOf = (peer: Peer, { name, since, password }: Room): Omit<MemberFrame, "type"> => ({
  peer: { id: peer.id, name: peer.name, dialect: peer.dialect, since: peer.since },
  room: {
    name,
    since,
    ...(password && { password: { salt: password.salt.toString("base64"), digest: password.digest.toString("base64") } }),
  },
});
