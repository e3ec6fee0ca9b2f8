import { AddressPlaces } from "../../core/limits/address-places.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { type Peer, remoteHostOf } from "./peer.ts";
import { defaultRoom, type Room } from "./room.ts";

/** The open rooms by their names, and by the number of their members: there may be thousands, of which the largest are shown every second. */
export class Rooms extends Map<string, Room> {
  readonly #ofSize = new Map<number, Set<Room>>();
  /** Of those that are here, the member that has been in it longest: the room is one of its address. */
  readonly #owners = new Map<Room, Peer>();
  readonly #places = new AddressPlaces<Room>();

  /** Its first member is to follow. */
  open(room: Room): Room {
    this.set(room.name, room);
    return room;
  }

  /** It is no member yet. */
  enter(room: Room, peer: Peer): void {
    room.add(peer);
    peer.rooms.push(room);
    this.#resized(room, room.members.size - 1);
    // It is for all who name none.
    if (peer.isElsewhere || room.name === defaultRoom) return;
    const owner = this.#owners.get(room);
    if (!owner) this.#own(room, peer);
    else if (keyOf(owner) !== keyOf(peer)) this.#places.use(room);
  }

  #own(room: Room, owner: Peer): void {
    this.#owners.set(room, owner);
    this.#places.add(remoteHostOf(owner), room);
  }

  /** With its last member a room is gone. */
  leave(room: Room, peer: Peer): void {
    peer.rooms.splice(peer.rooms.indexOf(room), 1);
    room.remove(peer);
    this.#resized(room, room.members.size + 1);
    if (room.members.size === 0) this.delete(room.name);
    if (this.#owners.get(room) === peer) this.#disown(room);
  }

  #disown(room: Room): void {
    this.#owners.delete(room);
    this.#places.remove(room);
    for (const member of room.members.values()) {
      if (member.isElsewhere) continue;
      this.#own(room, member);
      if (room.members.size > 1) this.#places.use(room);
      return;
    }
  }

  /**
   * The one that is closed for a new one of this peer where there are as many as there may be: first one without members of several addresses. Undefined
   * where no address has more rooms than that of the peer.
   */
  givingWay(opener: Peer): Room | undefined {
    return this.#places.givingWay(remoteHostOf(opener));
  }

  #resized(room: Room, before: number): void {
    const former = this.#ofSize.get(before);
    if (former?.delete(room) && former.size === 0) this.#ofSize.delete(before);
    const { size } = room.members;
    if (size === 0) return;
    const known = this.#ofSize.get(size);
    if (known) known.add(room);
    else this.#ofSize.set(size, new Set([room]));
  }

  /** The largest first, of equal ones the oldest. */
  largest(most: number): readonly Room[] {
    const largest: Room[] = [];
    for (const [, rooms] of [...this.#ofSize].sort(([one], [other]) => other - one))
      for (const room of rooms) {
        if (largest.length >= most) return largest.sort(byAge);
        largest.push(room);
      }
    return largest.sort(byAge);
  }
}

const keyOf = (peer: Peer): string => rateLimitKey(remoteHostOf(peer));

const byAge = (one: Room, other: Room): number => other.members.size - one.members.size || one.since - other.since;
