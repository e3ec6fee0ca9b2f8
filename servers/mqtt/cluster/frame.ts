import { ByteReader } from "../codec/byte-reader.ts";
import { PacketError } from "../codec/reason-code.ts";
import type { Message } from "../engine/routing/message.ts";
import { FrameWriter } from "./frame-writer.ts";
import { malformed, putMessage, readMessage } from "./message-fields.ts";

/** One entry of a frame: a change that a broker sends to the others. */
export type Entry =
  /** A message. `published`: route it; `kept`: it sets or removes the topic's retained message. At least one is true. */
  | {
      readonly type: "message";
      readonly message: Message;
      readonly routed: boolean;
      readonly kept: boolean;
    }
  /** A client's session is a member of a shared subscription at a broker. */
  | {
      readonly type: "member";
      readonly group: string;
      readonly clientId: string;
      readonly broker: string;
      readonly state: "connected" | "away" | "gone";
    }
  /** A message for shared subscriptions that was assigned to a broker without an available member of them. */
  | { readonly type: "handed on"; readonly to: string; readonly groups: readonly string[]; readonly message: Message }
  /** The broker is dead; the sender takes over its sessions. */
  | { readonly type: "dead"; readonly broker: string }
  /** The broker has stopped. */
  | { readonly type: "left" }
  /** The client is connected to the sender: hand its session over. */
  | { readonly type: "wanted"; readonly to: string; readonly clientId: string; readonly cleanStart: boolean }
  /** The answer to "wanted", when the handover is done. */
  | { readonly type: "surrendered"; readonly to: string; readonly clientId: string };

/** All entries of a broker in one tick. */
export interface Frame {
  readonly from: string;
  /** Sequence number of that broker's frames. */
  readonly seq: number;
  readonly entries: readonly Entry[];
}

export interface DecodedFrame extends Frame {
  /** Number of entries that could not be decoded. */
  readonly broken: number;
}

const formatVersion = 1;
/** The largest MQTT packet plus overhead. */
const largestFrameBytes = (256 << 20) + (1 << 20);

/** The journal may have entries of an earlier version. */
const formerHandedOn = "handed on to one group";
const kinds = ["message", "member", formerHandedOn, "dead", "left", "wanted", "surrendered", "handed on"] as const satisfies readonly (
  | Entry["type"]
  | typeof formerHandedOn
)[];

const memberStates = ["connected", "away", "gone"] as const;

/** Whether the entry must be durable, for brokers that are briefly disconnected or take over from a dead one. */
export function isDurable(entry: Entry): boolean {
  switch (entry.type) {
    case "message":
      return entry.kept || entry.message.qos > 0;
    case "member":
    case "handed on":
    case "dead":
      return true;
    case "left":
    case "wanted":
    case "surrendered":
      return false;
    default:
      return entry satisfies never;
  }
}

export function encodeFrame({ from, seq, entries }: Frame): Buffer {
  const writer = new FrameWriter();
  writer.byte(formatVersion).string(from).double(seq);
  for (const entry of entries) writer.part(() => putEntry(writer, entry));
  return writer.take();
}

function putEntry(writer: FrameWriter, entry: Entry): void {
  writer.byte(kinds.indexOf(entry.type));
  switch (entry.type) {
    case "message": {
      const groups = entry.message.groups ?? new Map<string, string>();
      writer.byte((entry.routed ? 1 : 0) | (entry.kept ? 2 : 0) | (entry.message.comesBack ? 4 : 0)).fourBytes(groups.size);
      for (const [group, broker] of groups) writer.string(group).string(broker);
      putMessage(writer, entry.message);
      break;
    }
    case "member":
      writer.string(entry.group).string(entry.clientId).string(entry.broker).byte(memberStates.indexOf(entry.state));
      break;
    case "handed on":
      writer.string(entry.to).fourBytes(entry.groups.length);
      for (const group of entry.groups) writer.string(group);
      putMessage(writer, entry.message);
      break;
    case "dead":
      writer.string(entry.broker);
      break;
    case "left":
      break;
    case "wanted":
      writer
        .string(entry.to)
        .string(entry.clientId)
        .byte(entry.cleanStart ? 1 : 0);
      break;
    case "surrendered":
      writer.string(entry.to).string(entry.clientId);
      break;
    default:
      entry satisfies never;
  }
}

/** Decodes a frame; throws only PacketError. An invalid entry is counted and does not affect the others. */
export function decodeFrame(bytes: Buffer): DecodedFrame {
  if (bytes.length > largestFrameBytes) throw malformed("The frame is too large.");
  const reader = new ByteReader();
  reader.open(bytes, 0, bytes.length);
  if (reader.byte() !== formatVersion) throw malformed("The frame has an unknown version.");
  const from = reader.string();
  const seq = reader.view(8).readDoubleBE(0);
  if (!Number.isSafeInteger(seq)) throw malformed("The frame has no number.");
  const entries: Entry[] = [];
  let broken = 0;
  const part = new ByteReader();
  while (reader.remaining > 0) {
    const length = reader.fourBytes();
    const at = reader.position;
    reader.view(length);
    part.open(bytes, at, at + length);
    try {
      const entry = readEntry(part);
      part.expectEnd();
      entries.push(entry);
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      broken++;
    }
  }
  return { from, seq, entries, broken };
}

/** The broker that sent the frame, without decoding it. Anything if it is none. */
export const senderOf = (bytes: Buffer): string => (bytes.length < 3 ? "" : bytes.toString("latin1", 3, 3 + bytes.readUInt16BE(1)));

function readEntry(reader: ByteReader): Entry {
  const type = kinds[reader.byte()];
  switch (type) {
    case "message": {
      const flags = reader.byte();
      const groups = new Map<string, string>();
      for (let count = reader.fourBytes(); count > 0; count--) groups.set(reader.string(), reader.string());
      const message = readMessage(reader);
      if (groups.size > 0) message.groups = groups;
      message.comesBack = (flags & 4) !== 0;
      return { type, message, routed: (flags & 1) !== 0, kept: (flags & 2) !== 0 };
    }
    case "member": {
      const [group, clientId, broker] = [reader.string(), reader.string(), reader.string()];
      const state = memberStates[reader.byte()];
      if (!state) throw malformed("Unknown state of a member.");
      return { type, group, clientId, broker, state };
    }
    case formerHandedOn:
      return { type: "handed on", to: reader.string(), groups: [reader.string()], message: readMessage(reader) };
    case "handed on": {
      const to = reader.string();
      const groups: string[] = [];
      for (let count = reader.fourBytes(); count > 0; count--) groups.push(reader.string());
      return { type, to, groups, message: readMessage(reader) };
    }
    case "dead":
      return { type, broker: reader.string() };
    case "left":
      return { type };
    case "wanted":
      return { type, to: reader.string(), clientId: reader.string(), cleanStart: reader.byte() === 1 };
    case "surrendered":
      return { type, to: reader.string(), clientId: reader.string() };
    case undefined:
      throw malformed("Unknown type of entry.");
    default:
      return type satisfies never;
  }
}
