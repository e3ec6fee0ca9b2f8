import { BroadcastLane, BroadcastMemory } from "../../core/streams/broadcast-lane.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import { clientMessages, readOne, type ServiceHandlers } from "../engine/handlers.ts";
import { describedMessage, fewValues, type MessageType } from "../engine/message-type.ts";
import { StatusError } from "../engine/status.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";

interface ChatRequest {
  readonly action:
    | { readonly case: "join"; readonly value: { readonly room: string; readonly name: string } }
    | { readonly case: "say"; readonly value: { readonly room: string; readonly text: string } }
    | { readonly case: "leave"; readonly value: { readonly room: string } }
    | { readonly case: undefined };
}

interface ChatEvent {
  readonly room: string;
  readonly timestamp: string;
  readonly event:
    | { readonly case: "presence"; readonly value: { readonly members: readonly string[] } }
    | { readonly case: "joined" | "left"; readonly value: { readonly name: string } }
    | { readonly case: "said"; readonly value: { readonly name: string; readonly text: string } }
    | { readonly case: "refused"; readonly value: { readonly reason: string } };
}

const mostRooms = 1_000;
const mostRoomsOfOne = 50;
const mostMembers = 1_000;
/** ListRooms fails if there are more, in all rooms: that many names are encoded in one step. */
const mostListed = 1_000;
/** Who joins a room is told so many of its members. */
const mostPresent = 250;
const longestName = 100;
/** What a member takes in each room, beside the names. */
const placeBytes = 512;
/** Each member gets it. */
const longestText = 65_536;
/** Of an event beside its text. */
const eventBytes = 400;

const tooMuchWaits = new StatusError("RESOURCE_EXHAUSTED", "too much waits for the members of rooms, and most of it is from this client");

/** A stream with the rooms in which it is, and its name in each. */
interface Member {
  readonly call: GrpcCall;
  readonly rooms: Map<string, string>;
}

/** A member in one room. */
interface Place {
  readonly member: Member;
  /** The number of the first event that it gets. */
  readonly since: number;
}

interface ListedRoom {
  readonly name: string;
  readonly members: readonly string[];
}

interface Room {
  readonly members: Map<string, Place>;
  readonly events: BroadcastLane<Place, RoomEvent>;
}

/** example.ChatService */
export function chat(pool: DescriptorPool): ServiceHandlers {
  const request = describedMessage<ChatRequest>(pool.message("example.ChatRequest"), fewValues);
  const event = describedMessage<ChatEvent>(pool.message("example.ChatEvent"));
  const listRequest = describedMessage<object>(pool.message("example.ListRoomsRequest"), fewValues);
  const listReply = describedMessage<{ readonly rooms: readonly ListedRoom[] }>(pool.message("example.ListRoomsReply"));
  const rooms = new ChatRooms(event);
  return {
    "example.ChatService": {
      Chat: clientMessages(request, event, (call) => {
        const member: Member = { call, rooms: new Map() };
        call.whenOver(() => rooms.leaveAll(member));
        call.sendHeaders();
        return {
          message: (message) => rooms.take(member, message),
          halfClose() {
            rooms.leaveAll(member);
            call.finish();
          },
        };
      }),
      ListRooms: (call) =>
        readOne(call, listRequest, () => {
          call.send(rooms.listed((list) => listReply.frame({ rooms: list })));
          call.finish();
        }),
    },
  };
}

/** Encoded once, for the first member that gets it. */
class RoomEvent {
  readonly #type: MessageType<ChatEvent>;
  readonly #event: ChatEvent;
  readonly sender: GrpcCall;
  #frame: Buffer | undefined;

  constructor(type: MessageType<ChatEvent>, event: ChatEvent, sender: GrpcCall) {
    this.#type = type;
    this.#event = event;
    this.sender = sender;
  }

  get bytes(): number {
    const { event } = this.#event;
    return eventBytes + (event.case === "said" ? 2 * event.value.text.length : 0);
  }

  get frame(): Buffer {
    this.#frame ??= this.#type.frame(this.#event);
    return this.#frame;
  }
}

const memoryOfPlace = (room: string, name: string): number => placeBytes + 2 * (room.length + name.length);

function firstNames(members: Room["members"]): string[] {
  const names: string[] = [];
  for (const name of members.keys()) if (names.push(name) === mostPresent) break;
  return names;
}

class ChatRooms {
  readonly #event: MessageType<ChatEvent>;
  readonly #rooms = new Map<string, Room>();
  readonly #memory = new BroadcastMemory();
  #listed: Buffer | undefined;

  constructor(event: MessageType<ChatEvent>) {
    this.#event = event;
  }

  /** The same for all who ask until somebody joins or leaves. */
  listed(encode: (rooms: readonly ListedRoom[]) => Buffer): Buffer {
    this.#listed ??= encode(this.#list());
    return this.#listed;
  }

  #list(): readonly ListedRoom[] {
    let listed = 0;
    return [...this.#rooms].map(([name, { members }]) => {
      listed += members.size;
      if (listed > mostListed) throw new StatusError("RESOURCE_EXHAUSTED", `there are more than ${mostListed} members`);
      return { name, members: [...members.keys()] };
    });
  }

  /** Resolves, if it takes longer, when all have been told: the member is read no further meanwhile. */
  take(member: Member, { action }: ChatRequest): Promise<void> | undefined {
    switch (action.case) {
      case "join":
        return this.#join(member, action.value.room, action.value.name);
      case "say": {
        const { room: name, text } = action.value;
        const as = member.rooms.get(name);
        const room = this.#rooms.get(name);
        if (as === undefined || !room) return this.#refuse(member, name, "you are not in this room: join it first");
        if (text.length > longestText) return this.#refuse(member, name, `a text has at most ${longestText} characters`);
        return room.events.send(this.#roomEvent(name, member, { case: "said", value: { name: as, text } }), member.call.work);
      }
      case "leave":
        if (member.rooms.has(action.value.room)) return this.#leave(member, action.value.room);
        return this.#refuse(member, action.value.room, "you are not in this room");
      case undefined:
        return this.#refuse(member, "", "a request joins, says or leaves");
      default:
        return action satisfies never;
    }
  }

  #join(member: Member, name: string, as: string): Promise<void> | undefined {
    if (name === "" || as === "" || name.length > longestName || as.length > longestName) {
      return this.#refuse(member, name.slice(0, longestName), `a room and a name have 1 to ${longestName} characters`);
    }
    const room = this.#rooms.get(name) ?? this.#emptyRoom();
    const { members, events } = room;
    if (member.rooms.has(name)) return this.#refuse(member, name, "you are in this room already");
    if (members.has(as)) return this.#refuse(member, name, `${as} is in this room already`);
    if (members.size >= mostMembers || member.rooms.size >= mostRoomsOfOne || (members.size === 0 && this.#rooms.size >= mostRooms)) {
      return this.#refuse(member, name, "there are too many rooms or members");
    }
    const told = events.send(this.#roomEvent(name, member, { case: "joined", value: { name: as } }), member.call.work);
    this.#listed = undefined;
    member.call.held.add(memoryOfPlace(name, as));
    members.set(as, { member, since: events.sent });
    this.#rooms.set(name, room);
    member.rooms.set(name, as);
    member.call.send(this.#roomEvent(name, member, { case: "presence", value: { members: firstNames(members) } }).frame);
    return told;
  }

  #emptyRoom(): Room {
    const members: Room["members"] = new Map();
    const events = new BroadcastLane<Place, RoomEvent>({
      memory: this.#memory,
      receivers: () => members.values(),
      deliver({ member, since }, { frame }, number) {
        // One that reads too slowly loses its call, and nobody waits for it.
        if (number >= since) member.call.send(frame);
      },
      bytesOf: ({ bytes }) => bytes,
      lost: ({ sender }) => sender.fail(tooMuchWaits),
    });
    return { members, events };
  }

  #leave(member: Member, name: string): Promise<void> | undefined {
    const as = member.rooms.get(name);
    const room = this.#rooms.get(name);
    if (as === undefined || !room) return undefined;
    this.#listed = undefined;
    member.call.held.add(-memoryOfPlace(name, as));
    member.rooms.delete(name);
    room.members.delete(as);
    if (room.members.size === 0) this.#rooms.delete(name);
    // Those that stay are notified, and the one that leaves, if it is still connected.
    const event = this.#roomEvent(name, member, { case: "left", value: { name: as } });
    if (!member.call.isEnding) member.call.send(event.frame);
    return room.members.size > 0 ? room.events.send(event, member.call.work) : undefined;
  }

  leaveAll(member: Member): void {
    for (const name of [...member.rooms.keys()]) void this.#leave(member, name);
  }

  #refuse(member: Member, room: string, reason: string): undefined {
    member.call.send(this.#roomEvent(room, member, { case: "refused", value: { reason } }).frame);
  }

  #roomEvent(room: string, { call }: Member, event: ChatEvent["event"]): RoomEvent {
    return new RoomEvent(this.#event, { room, timestamp: new Date().toISOString(), event }, call);
  }
}
