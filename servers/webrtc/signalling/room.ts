import type { KeptChat } from "./chat-history.ts";
import type { Peer } from "./peer.ts";
import type { Member } from "./signalling-event.ts";

/** Peers that see one another, and their chat. It is there as long as it has a member. */
export class Room {
  readonly name: string;
  readonly since = Date.now();
  /** Digest of the password that its first member has chosen. */
  readonly password: Buffer | undefined;
  readonly members = new Map<string, Peer>();
  /** The kept part of its chat, the oldest first. */
  readonly chat: KeptChat[] = [];
  chatMessages = 0;

  constructor(name: string, password: Buffer | undefined) {
    this.name = name;
    this.password = password;
  }

  membersBeside(peer: Peer): Member[] {
    const members: Member[] = [];
    for (const { id, name } of this.members.values()) if (id !== peer.id) members.push({ id, name });
    return members;
  }
}
