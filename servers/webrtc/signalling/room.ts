import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { WebrtcDialect } from "../../../contract/traffic/webrtc.ts";
import type { BudgetShare } from "../../core/limits/shared-budget.ts";
import { MemberList } from "./member-list.ts";
import type { JoinedRoom, Peer } from "./peer.ts";
import type { ChatEvent } from "./signalling-event.ts";

/** Of clients that name no room, in dialects that know none. */
export const defaultRoom = "default";

/** Of the password that the first member has chosen. */
export interface RoomPassword {
  readonly salt: Buffer;
  readonly digest: Buffer;
}

/** What an address has said that is kept. */
export interface ChatSender {
  readonly key: string;
  /** The oldest first. */
  readonly kept: Set<KeptChat>;
  readonly share: BudgetShare;
}

/** A message of its chat. */
export interface KeptChat {
  readonly room: Room;
  readonly message: ChatEvent;
  readonly sender: ChatSender;
}

/** By which ids the members of a room call themselves, where their dialect has them choose some: each has one there, the newest. Several may say the same. */
class Aliases {
  readonly #peers = new Map<string, Set<string>>();
  readonly #ids = new Map<string, string>();

  /** Undefined where nobody calls himself so, or more than one. */
  peerOf(id: string): string | undefined {
    const [peer, another] = this.#peers.get(id) ?? [];
    return another === undefined ? peer : undefined;
  }

  of(peer: string): string | undefined {
    return this.#ids.get(peer);
  }

  set(id: string, peer: string): void {
    if (this.#ids.get(peer) === id) return;
    this.delete(peer);
    const peers = this.#peers.get(id) ?? new Set();
    this.#peers.set(id, peers.add(peer));
    this.#ids.set(peer, id);
  }

  delete(peer: string): void {
    const id = this.#ids.get(peer);
    if (id === undefined) return;
    this.#ids.delete(peer);
    const peers = this.#peers.get(id);
    peers?.delete(peer);
    if (peers?.size === 0) this.#peers.delete(id);
  }
}

/** Peers that see one another, and their chat. It is there as long as it has a member. */
export class Room implements JoinedRoom {
  readonly name: string;
  since: number;
  password: RoomPassword | undefined;
  readonly #members = new Map<string, Peer>();
  /** The same. */
  readonly list = new MemberList();
  readonly #dialects = new Map<WebrtcDialect, number>();
  /** Its members at each other instance, and at all of them. */
  readonly #elsewhere = new Map<string, number>();
  elsewhereCount = 0;
  /** The kept part of its chat, the oldest first. */
  readonly chat = new Set<KeptChat>();
  chatMessages = 0;
  /** Of members. */
  readonly aliases = new Aliases();

  constructor(name: string, password: RoomPassword | undefined, since = Date.now()) {
    this.name = name;
    this.password = password;
    this.since = since;
  }

  get members(): ReadonlyMap<string, Peer> {
    return this.#members;
  }

  /** It is no member yet. */
  add(peer: Peer): void {
    this.#members.set(peer.id, peer);
    this.list.add(peer);
    this.#count(peer, 1);
  }

  remove(peer: Peer): void {
    if (!this.#members.delete(peer.id)) return;
    this.list.remove(peer);
    this.#count(peer, -1);
    this.aliases.delete(peer.id);
  }

  renamed(peer: Peer): void {
    this.list.renamed(peer);
  }

  #count({ dialect, facts: { instance } }: Peer, by: 1 | -1): void {
    this.#dialects.set(dialect, this.countOf(dialect) + by);
    if (instance === undefined) return;
    this.elsewhereCount += by;
    const there = (this.#elsewhere.get(instance) ?? 0) + by;
    if (there > 0) this.#elsewhere.set(instance, there);
    else this.#elsewhere.delete(instance);
  }

  /** Other instances that have members of it. */
  instances(): Iterable<string> {
    return this.#elsewhere.keys();
  }

  /** Members that speak this dialect. */
  countOf(dialect: WebrtcDialect): number {
    return this.#dialects.get(dialect) ?? 0;
  }
}

export const ownMembers = ({ members }: Room): readonly Peer[] => [...members.values()].filter(({ isElsewhere }) => !isElsewhere);

/** The members of several rooms, each once. */
export function othersIn(rooms: readonly Room[], peer: Peer): readonly Peer[] {
  const others = new Set<Peer>();
  for (const room of rooms) for (const member of room.members.values()) others.add(member);
  others.delete(peer);
  return [...others];
}

const saltBytes = 16;
const digestOf = (password: string, salt: Buffer): Buffer => createHmac("sha256", salt).update(password).digest();

export function passwordOf(password: string): RoomPassword {
  const salt = randomBytes(saltBytes);
  return { salt, digest: digestOf(password, salt) };
}

export const isPasswordOf = ({ password }: Room, given: string): boolean =>
  password === undefined || timingSafeEqual(password.digest, digestOf(given, password.salt));
