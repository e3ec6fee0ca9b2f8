import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { ChatSender, KeptChat, Room } from "./room.ts";
import type { ChatEvent } from "./signalling-event.ts";

export interface ChatLimits {
  /** Messages that are kept of a room. */
  readonly chatHistory: number;
  /** Bytes that are kept of all rooms. */
  readonly chatHistoryBytes: number;
}

/** What a message costs beside its text. */
const overheadBytes = 300;
/** That are free again when too much was kept: a step in the turn of one client. */
const mostFreedBytes = 1 << 20;

/**
 * Keeps the chat of rooms, within a number of messages for each and a number of bytes for all: beyond it the oldest goes of the address that has said
 * most of what is kept, so that nobody takes the history from the rooms of others.
 */
export class ChatHistory {
  readonly #most: number;
  readonly #budget: SharedBudget;
  readonly #senders = new Map<string, ChatSender>();
  #bytes = 0;

  constructor({ chatHistory, chatHistoryBytes }: ChatLimits) {
    this.#most = chatHistory;
    this.#budget = new SharedBudget(chatHistoryBytes, Math.min(chatHistoryBytes >> 4, mostFreedBytes));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `address` is empty for what the dashboard says, and for all that comes from other instances. */
  add(room: Room, message: ChatEvent, address: string): void {
    room.chatMessages++;
    if (this.#most === 0) return;
    const sender = this.#senderOf(address);
    const added: KeptChat = { room, message, sender };
    room.chat.add(added);
    sender.kept.add(added);
    if (room.chat.size > this.#most) this.#dropOldest(room.chat);
    const bytes = bytesOf(message);
    this.#bytes += bytes;
    sender.share.add(bytes);
  }

  #senderOf(address: string): ChatSender {
    const key = rateLimitKey(address);
    const known = this.#senders.get(key);
    if (known) return known;
    const kept = new Set<KeptChat>();
    const sender: ChatSender = {
      ...{ key, kept },
      share: this.#budget.open(address, (excess) => {
        const target = this.#bytes - excess;
        while (this.#bytes > target && kept.size > 0) this.#dropOldest(kept);
      }),
    };
    this.#senders.set(key, sender);
    return sender;
  }

  /** The room is closed. */
  forget(room: Room): void {
    while (room.chat.size > 0) this.#dropOldest(room.chat);
  }

  #dropOldest(kept: ReadonlySet<KeptChat>): void {
    const [oldest] = kept;
    if (!oldest) return;
    const { room, message, sender } = oldest;
    room.chat.delete(oldest);
    sender.kept.delete(oldest);
    const bytes = bytesOf(message);
    this.#bytes -= bytes;
    sender.share.add(-bytes);
    if (sender.kept.size > 0) return;
    this.#senders.delete(sender.key);
    sender.share.close();
  }
}

const bytesOf = ({ text, name, from }: ChatEvent): number => overheadBytes + 2 * (text.length + name.length + from.length);
