import type { Peer } from "./peer.ts";
import type { Room } from "./room.ts";

/** The open rooms by their names, and by the number of their members: there may be thousands, of which the largest are shown every second. */
export class Rooms extends Map<string, Room> {
  readonly #ofSize = new Map<number, Set<Room>>();

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
  }

  /** With its last member a room is gone. */
  leave(room: Room, peer: Peer): void {
    peer.rooms.splice(peer.rooms.indexOf(room), 1);
    room.remove(peer);
    this.#resized(room, room.members.size + 1);
    if (room.members.size === 0) this.delete(room.name);
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

const byAge = (one: Room, other: Room): number => other.members.size - one.members.size || one.since - other.since;
