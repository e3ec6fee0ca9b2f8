import { EventEmitter } from "node:events";
import mqemitterRedis from "mqemitter-redis";
import { isJournalId } from "./journal.ts";

/** Number of frames remembered by the emitter's own id; everything else uses the frame's number. */
const rememberedFrames = 1_000;

export interface FrameBus {
  /** The message published for a frame; Redis appends the journal's id and its length. */
  envelope(frame: Buffer): Buffer;
  /** False if the bytes are not a message of `envelope`. */
  receive(bytes: Buffer): boolean;
}

interface Sent {
  readonly topic: string;
  readonly frame: Buffer;
}

/**
 * mqemitter-redis on a channel of Redis. It publishes each message separately, and throws if a received message is not MessagePack.
 * It therefore gets connections of ours: these add its bytes to the tick's transaction, and pass on valid messages only.
 */
export function createFrameBus(channel: string, onFrame: (id: string, frame: Buffer) => void): FrameBus {
  let published: Buffer = Buffer.alloc(0);
  let id = "";
  const publishing = Object.assign(new EventEmitter(), {
    async publish(_channel: string, bytes: Uint8Array) {
      published = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
  });
  const listening = Object.assign(new EventEmitter(), { subscribe: (_channel: string, done: () => void) => done() });
  const emitter = mqemitterRedis({
    pubConn: publishing as never,
    subConn: listening as never,
    maxLRUCache: rememberedFrames,
  });
  emitter.on(channel, (sent, done) => {
    onFrame(id, (sent as Sent).frame);
    done();
  });
  const channelBytes = Buffer.from(channel);

  return {
    envelope(frame) {
      const sent: Sent = { topic: channel, frame };
      emitter.emit(sent);
      return published;
    },
    receive(bytes) {
      const idLength = bytes.at(-1) ?? 0;
      const end = bytes.length - 1 - idLength;
      if (end < 0) return false;
      id = bytes.toString("latin1", end, bytes.length - 1);
      const envelope = bytes.subarray(0, end);
      if ((id !== "" && !isJournalId(id)) || !isEnvelope(envelope, channel)) return false;
      listening.emit("messageBuffer", channelBytes, envelope);
      return true;
    },
  };
}

/** `{ id: string, msg: { topic: channel, frame: binary } }` in MessagePack, without trailing bytes. */
function isEnvelope(bytes: Buffer, channel: string): boolean {
  let at = 0;
  const expect = (...wanted: number[]) => wanted.every((byte) => bytes[at++] === byte);
  const expectName = (name: string) => expect(0xa0 | name.length, ...Buffer.from(name));
  const text = (): string | undefined => {
    const head = bytes[at++] ?? 0;
    const length = (head & 0xe0) === 0xa0 ? head & 0x1f : head === 0xd9 ? (bytes[at++] ?? 0) : -1;
    if (length < 0 || at + length > bytes.length) return undefined;
    at += length;
    return bytes.toString("utf8", at - length, at);
  };
  if (!expect(0x82) || !expectName("id") || text() === undefined) return false;
  if (!expectName("msg") || !expect(0x82) || !expectName("topic") || text() !== channel || !expectName("frame")) return false;
  const head = bytes[at++] ?? 0;
  const lengthBytes = head === 0xc4 ? 1 : head === 0xc5 ? 2 : head === 0xc6 ? 4 : 0;
  if (lengthBytes === 0 || at + lengthBytes > bytes.length) return false;
  const length = bytes.readUIntBE(at, lengthBytes);
  return at + lengthBytes + length === bytes.length;
}
