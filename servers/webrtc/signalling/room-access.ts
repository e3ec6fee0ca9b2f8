import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { type Peer, remoteHostOf } from "./peer.ts";
import { defaultRoom, isPasswordOf } from "./room.ts";
import type { Rooms } from "./rooms.ts";
import type { Refusal } from "./signalling-event.ts";

export interface RoomLimits {
  readonly rooms: number;
  /** Members of a room. */
  readonly roomPeers: number;
  /** Rooms of a peer. */
  readonly peerRooms: number;
  /** Characters of the name of a room or a peer, and of a password. */
  readonly nameLength: number;
  /** Characters of a chat message. */
  readonly chatLength: number;
}

/** Wrong passwords of rooms, by address. */
export interface PasswordFailures {
  isBlocked(address: string): boolean;
  count(address: string): void;
}

export interface JoinRequest {
  readonly room: string;
  /** The client has named none: this room has no limit beside that of all peers. */
  readonly isImplicit?: boolean;
  /** As the peer calls itself from now on. */
  readonly name?: string | undefined;
  readonly password?: string | undefined;
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Whether it would end a line, or drive a terminal, where a client shows it. */
export const hasControls = (name: string): boolean => controls.test(name);

/** Decides who may join a room, by its password and the limits, and what may be said in it. */
export class RoomAccess {
  readonly #limits: RoomLimits;
  readonly #failures: PasswordFailures;

  constructor(limits: RoomLimits, failures: PasswordFailures) {
    this.#limits = limits;
    this.#failures = failures;
  }

  refusalOf(peer: Peer, wanted: JoinRequest, rooms: Rooms): Refusal | undefined {
    const { room: name, isImplicit = false, password, name: ownName = "" } = wanted;
    const limits = this.#limits;
    const failures = this.#failures;
    if (name.length > limits.nameLength || ownName.length > limits.nameLength || (password ?? "").length > limits.nameLength)
      return { code: "too-long", message: `A name or password is longer than ${limits.nameLength} characters` };
    if (hasControls(name) || hasControls(ownName))
      return { code: "bad-name", message: "A name has control characters, or more than one line" };
    const room = rooms.get(name);
    if (room?.members.has(peer.id)) return undefined;
    // It would shut out all clients that name no room.
    if (name === defaultRoom && password)
      return { code: "wrong-password", message: `The room ${defaultRoom} is for all, and has no password` };
    if (peer.rooms.length >= limits.peerRooms)
      return { code: "too-many-rooms", message: `A peer may be in ${limits.peerRooms} rooms (WEBRTC_PEER_ROOMS)` };
    if (!room && (rooms.size < limits.rooms || rooms.givingWay(peer))) return undefined;
    if (!room)
      return {
        code: "too-many-rooms",
        message: `There are ${limits.rooms} rooms, and no other address has more of them (WEBRTC_ROOMS)`,
      };
    if (!isImplicit && room.members.size >= limits.roomPeers)
      return { code: "room-full", message: `A room has at most ${limits.roomPeers} peers` };
    if (!room.password) return undefined;
    // No guess: a client that knows of no password.
    if (!password) return { code: "wrong-password", message: "The room has a password" };
    const address = rateLimitKey(remoteHostOf(peer));
    if (failures.isBlocked(address)) return { code: "too-many-failures", message: "Too many wrong passwords from this address" };
    if (isPasswordOf(room, password)) return undefined;
    failures.count(address);
    return { code: "wrong-password", message: "The password of the room is wrong" };
  }

  refusalOfText(text: string): Refusal | undefined {
    const { chatLength } = this.#limits;
    return text.length > chatLength ? { code: "too-long", message: `A chat message has at most ${chatLength} characters` } : undefined;
  }
}

export const notInRoom = (name: string | undefined): Refusal => ({
  code: "not-in-room",
  message: name === undefined ? "The peer is in no room" : "The peer is not in this room",
});

export const peerUnknown: Refusal = { code: "peer-unknown", message: "There is no such peer" };
