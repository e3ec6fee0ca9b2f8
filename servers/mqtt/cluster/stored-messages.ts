import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { ByteReader } from "../codec/byte-reader.ts";
import { PacketError } from "../codec/reason-code.ts";
import type { Message } from "../engine/routing/message.ts";
import { keyPrefix } from "./cluster-scripts.ts";
import { FrameWriter } from "./frame-writer.ts";
import { putMessage, readMessage } from "./message-fields.ts";

/** A message that Redis has once, for the deliveries of all sessions, and the lists, that name it. */
export interface StoredMessage {
  readonly name: string;
  readonly message: Message;
  /** Deliveries of this broker's sessions that name it. */
  uses: number;
  /** The `era` in which Redis got it. */
  writtenIn: number;
}

/** By name; and the `era` in which they were read. */
export interface LoadedMessages {
  readonly messages: ReadonlyMap<string, Message>;
  readonly era: number;
}

const messagesAtOnce = 200;
const bytesAtOnce = 1 << 20;

/** The messages that this broker's sessions have in Redis, by their names. The script that changes deliveries counts their uses. */
export class StoredMessages {
  private readonly byName = new Map<string, StoredMessage>();
  private readonly byMessage = new Map<Message, StoredMessage>();
  /** Names are unique among all brokers, also of earlier runs. */
  private readonly prefix = randomBytes(8).toString("base64url");
  private last = 0;
  /** A new one begins when what Redis has is not known. */
  private era = 1;

  get size(): number {
    return this.byName.size;
  }

  /** A further delivery names the message. */
  use(message: Message): StoredMessage {
    const stored =
      this.byMessage.get(message) ?? this.add({ name: `${this.prefix}${(++this.last).toString(36)}`, message, uses: 0, writtenIn: 0 });
    stored.uses++;
    return stored;
  }

  /** The same for a delivery that was read from Redis: `message` is what `load` returned for the name, in `era`. */
  useNamed(name: string, message: Message, era: number): StoredMessage {
    const known = this.byName.get(name) ?? this.byMessage.get(message);
    const stored = known ?? this.add({ name, message, uses: 0, writtenIn: era });
    stored.uses++;
    return stored;
  }

  /** A delivery names it no more. */
  release(message: Message): StoredMessage | undefined {
    const stored = this.byMessage.get(message);
    if (stored && --stored.uses <= 0) {
      this.byMessage.delete(message);
      this.byName.delete(stored.name);
    }
    return stored;
  }

  of(message: Message): StoredMessage | undefined {
    return this.byMessage.get(message);
  }

  private add(stored: StoredMessage): StoredMessage {
    this.byName.set(stored.name, stored);
    this.byMessage.set(stored.message, stored);
    return stored;
  }

  isWritten({ writtenIn }: StoredMessage): boolean {
    return writtenIn === this.era;
  }

  /** For a commit: what Redis is to keep, or nothing if it has it. */
  toWrite(stored: StoredMessage): Buffer | undefined {
    if (this.isWritten(stored)) return undefined;
    stored.writtenIn = this.era;
    // Thousands may be written together.
    const writer = new FrameWriter(stored.message.bytes);
    putMessage(writer, stored.message);
    return writer.take();
  }

  /** What was to be written did not reach Redis, or Redis may have lost it. */
  unknown(): void {
    this.era++;
  }

  /** The messages with these names, as far as they are there and can be read. A delivery in Redis names each of them until `useNamed`. */
  async load(redis: Redis, names: Iterable<string>): Promise<LoadedMessages> {
    const { era } = this;
    const messages = new Map<string, Message>();
    const wanted: string[] = [];
    for (const name of names) {
      const known = this.byName.get(name);
      if (known) messages.set(name, known.message);
      else wanted.push(name);
    }
    for (let at = 0, count = 10; at < wanted.length; ) {
      const some = wanted.slice(at, at + count);
      const bodies = await redis.hmgetBuffer(`${keyPrefix}messages`, ...some);
      let read = 0;
      for (const [index, bytes] of bodies.entries()) {
        const message = bytes && readBody(bytes);
        if (message) messages.set(some[index] as string, message);
        read += bytes?.length ?? 0;
      }
      at += some.length;
      count = Math.max(1, Math.min(messagesAtOnce, Math.floor((some.length * bytesAtOnce) / Math.max(1, read))));
    }
    return { messages, era };
  }
}

/** Undefined if it cannot be read. */
export function readBody(bytes: Buffer): Message | undefined {
  const reader = new ByteReader();
  reader.open(bytes, 0, bytes.length);
  try {
    const message = readMessage(reader);
    message.compact();
    return message;
  } catch (error) {
    if (!(error instanceof PacketError)) throw error;
    return undefined;
  }
}
