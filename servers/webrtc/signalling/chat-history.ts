import type { KeptChat, Room } from "./room.ts";
import type { ChatEvent } from "./signalling-event.ts";

export interface ChatLimits {
  /** Messages that are kept of a room. */
  readonly chatHistory: number;
  /** Bytes that are kept of all rooms. */
  readonly chatHistoryBytes: number;
}

/** What a message costs beside its text. */
const overheadBytes = 300;
/** The queue is cleaned when more of it than this, and more than half, is not kept any more. */
const leastStale = 1_000;

/** Keeps the chat of rooms, within a number of messages for each and a number of bytes for all: the oldest of all goes first. */
export class ChatHistory {
  readonly #limits: ChatLimits;
  /** In order of arrival, with some that are not kept any more. */
  #queue: KeptChat[] = [];
  /** What is before it is not kept. */
  #front = 0;
  #kept = 0;
  #bytes = 0;

  constructor(limits: ChatLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(room: Room, message: ChatEvent): void {
    const { chatHistory, chatHistoryBytes } = this.#limits;
    room.chatMessages++;
    if (chatHistory === 0) return;
    const added: KeptChat = { room, message, isKept: true };
    room.chat.push(added);
    this.#queue.push(added);
    this.#kept++;
    this.#bytes += bytesOf(message);
    if (room.chat.length > chatHistory) this.#dropOldest(room);
    while (this.#bytes > chatHistoryBytes && this.#front < this.#queue.length) {
      const oldest = this.#queue[this.#front++] as KeptChat;
      if (oldest.isKept) this.#dropOldest(oldest.room);
    }
    if (this.#queue.length > 2 * this.#kept + leastStale) {
      this.#queue = this.#queue.filter(({ isKept }) => isKept);
      this.#front = 0;
    }
  }

  /** The room is closed. */
  forget(room: Room): void {
    while (room.chat.length > 0) this.#dropOldest(room);
  }

  #dropOldest(room: Room): void {
    const dropped = room.chat.shift();
    if (!dropped) return;
    dropped.isKept = false;
    this.#kept--;
    this.#bytes -= bytesOf(dropped.message);
  }
}

const bytesOf = ({ text, name, from }: ChatEvent): number => overheadBytes + 2 * (text.length + name.length + from.length);
