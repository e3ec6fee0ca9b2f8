import type { GrpcCall } from "../engine/grpc-call.ts";
import { clientMessages, type ServiceHandlers, unary } from "../engine/handlers.ts";
import { describedMessage, type MessageType } from "../engine/message-type.ts";
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
const longestName = 100;

/** A stream with the rooms in which it is, and its name in each. */
interface Member {
  readonly call: GrpcCall;
  readonly rooms: Map<string, string>;
}

type Room = Map<string, Member>;

/** example.ChatService */
export function chat(pool: DescriptorPool): ServiceHandlers {
  const request = describedMessage<ChatRequest>(pool.message("example.ChatRequest"));
  const event = describedMessage<ChatEvent>(pool.message("example.ChatEvent"));
  const listRequest = describedMessage<object>(pool.message("example.ListRoomsRequest"));
  const listReply = describedMessage<{ readonly rooms: readonly { readonly name: string; readonly members: readonly string[] }[] }>(
    pool.message("example.ListRoomsReply"),
  );
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
      ListRooms: unary(listRequest, listReply, () => ({ rooms: rooms.list() })),
    },
  };
}

class ChatRooms {
  readonly #event: MessageType<ChatEvent>;
  readonly #rooms = new Map<string, Room>();

  constructor(event: MessageType<ChatEvent>) {
    this.#event = event;
  }

  list(): { readonly name: string; readonly members: readonly string[] }[] {
    return [...this.#rooms].map(([name, members]) => ({ name, members: [...members.keys()] }));
  }

  take(member: Member, { action }: ChatRequest): void {
    switch (action.case) {
      case "join":
        this.#join(member, action.value.room, action.value.name);
        break;
      case "say": {
        const { room, text } = action.value;
        const name = member.rooms.get(room);
        if (name === undefined) this.#refuse(member, room, "you are not in this room: join it first");
        else this.#broadcast(room, { case: "said", value: { name, text } });
        break;
      }
      case "leave":
        if (member.rooms.has(action.value.room)) this.#leave(member, action.value.room);
        else this.#refuse(member, action.value.room, "you are not in this room");
        break;
      case undefined:
        this.#refuse(member, "", "a request joins, says or leaves");
        break;
      default:
        action satisfies never;
    }
  }

  #join(member: Member, name: string, as: string): void {
    if (name === "" || as === "" || name.length > longestName || as.length > longestName) {
      this.#refuse(member, name.slice(0, longestName), `a room and a name have 1 to ${longestName} characters`);
      return;
    }
    const room: Room = this.#rooms.get(name) ?? new Map<string, Member>();
    if (member.rooms.has(name)) this.#refuse(member, name, "you are in this room already");
    else if (room.has(as)) this.#refuse(member, name, `${as} is in this room already`);
    else if (room.size >= mostMembers || member.rooms.size >= mostRoomsOfOne || (room.size === 0 && this.#rooms.size >= mostRooms)) {
      this.#refuse(member, name, "there are too many rooms or members");
    } else {
      this.#broadcast(name, { case: "joined", value: { name: as } });
      this.#rooms.set(name, room.set(as, member));
      member.rooms.set(name, as);
      this.#send(member, name, { case: "presence", value: { members: [...room.keys()] } });
    }
  }

  #leave(member: Member, name: string): void {
    const as = member.rooms.get(name);
    const room = this.#rooms.get(name);
    if (as === undefined || !room) return;
    // Those that stay are notified, and the one that leaves, if it is still connected.
    this.#broadcast(name, { case: "left", value: { name: as } });
    member.rooms.delete(name);
    room.delete(as);
    if (room.size === 0) this.#rooms.delete(name);
  }

  leaveAll(member: Member): void {
    for (const name of [...member.rooms.keys()]) this.#leave(member, name);
  }

  /** A member that reads too slowly loses its call, and nobody waits for it. */
  #broadcast(room: string, event: ChatEvent["event"]): void {
    const frame = this.#frame(room, event);
    for (const { call } of [...(this.#rooms.get(room)?.values() ?? [])]) call.send(frame);
  }

  #send(member: Member, room: string, event: ChatEvent["event"]): void {
    member.call.send(this.#frame(room, event));
  }

  #refuse(member: Member, room: string, reason: string): void {
    this.#send(member, room, { case: "refused", value: { reason } });
  }

  #frame(room: string, event: ChatEvent["event"]): Buffer {
    return this.#event.frame({ room, timestamp: new Date().toISOString(), event });
  }
}
