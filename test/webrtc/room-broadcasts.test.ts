import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createJsonEncoder } from "../../servers/webrtc/dialects/json/encode-json-event.ts";
import { createPacketEncoder } from "../../servers/webrtc/dialects/socketio/encode-packet.ts";
import { Peer } from "../../servers/webrtc/signalling/peer.ts";
import { Room } from "../../servers/webrtc/signalling/room.ts";
import { RoomBroadcasts } from "../../servers/webrtc/signalling/room-broadcasts.ts";
import type { PeerEvent } from "../../servers/webrtc/signalling/signalling-event.ts";
import { onEnd } from "../support/start-service.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

interface Delivery {
  readonly to: string;
  readonly text: string;
  readonly event: PeerEvent;
  /** Of a welcome: whom it names. */
  readonly peers: readonly string[];
  /** Of the event loop. */
  readonly turn: number;
}

/** A long welcome is as much work as several short messages. */
const membersOfItem = 200;
const atOnce = (_peer: Peer, send: () => void) => send();

function open() {
  const delivered: Delivery[] = [];
  const holds = new Map<string, number>();
  let turn = 0;
  let isOver = false;
  onEnd(() => {
    isOver = true;
  });
  void (async () => {
    for (; !isOver; turn++) await nextTurn();
  })();
  const { turns, pass } = workTime();
  const cutOff: string[] = [];
  const hand = (peer: Peer, event: PeerEvent) => {
    const peers = event.type === "joined" ? [...event.peers].map(({ id }) => id) : [];
    for (let items = 0; items <= peers.length; items += membersOfItem) pass();
    delivered.push({ to: peer.id, text: textOf(event), event, peers, turn });
  };
  const broadcasts = new RoomBroadcasts(hand, atOnce, ({ id }) => void cutOff.push(id), turns);
  const change = (id: string, by: number) => () => holds.set(id, (holds.get(id) ?? 0) + by);
  const peer = (id: string, instance?: string) =>
    new Peer(id, {
      dialect: "json",
      link: { deliver() {}, hold: change(id, 1), release: change(id, -1), close() {}, unsentBytes: 0, unsentMemory: 0, sentBytes: 0 },
      connection: { id: 0, remote: "", local: "", openedAt: 0, tls: undefined },
      userAgent: "",
      ...(instance !== undefined && { instance }),
    });
  const roomOf = (name: string, count: number) => {
    const room = new Room(name, undefined);
    for (let index = 0; index < count; index++) join(room, peer(`${name} ${index}`));
    return room;
  };
  return { broadcasts, delivered, cutOff, holds, peer, roomOf, until: async (isDone: () => boolean) => void (await untilTurn(isDone)) };
}

async function untilTurn(isDone: () => boolean): Promise<void> {
  while (!isDone()) await nextTurn();
}

function join(room: Room, peer: Peer): void {
  room.add(peer);
  peer.rooms.push(room);
}

const chat = (text: string): PeerEvent => ({ type: "chat", from: "x", name: "", text, at: 0 });
const textOf = (event: PeerEvent): string => (event.type === "chat" ? event.text : event.type);
const members = (room: Room): readonly Peer[] => [...room.members.values()];

it("[WEBRTC-127] what is for many is delivered in slices of bounded length, and all of it in the same order", async () => {
  const { broadcasts, delivered, holds, roomOf, until } = open();
  const room = roomOf("large", 700);
  const [one, other] = members(room) as [Peer, Peer];
  broadcasts.tell(room, chat("first"), { sender: one });
  broadcasts.tell(room, chat("second"), { sender: other });
  broadcasts.tell(room, chat("third"));
  expect([holds.get(one.id), holds.get(other.id)]).toEqual([1, 1]);
  await until(() => delivered.length === 699 + 699 + 700);
  for (const [turn, slice] of Map.groupBy(delivered, (delivery) => delivery.turn))
    expect([turn, slice.length <= itemsOfTurn]).toEqual([turn, true]);
  for (const [to, all] of Map.groupBy(delivered, (delivery) => delivery.to)) {
    const expected = ["first", "second", "third"].filter(
      (text) => !(to === one.id && text === "first") && !(to === other.id && text === "second"),
    );
    expect(all.map(({ text }) => text)).toEqual(expected);
  }
  await until(() => holds.get(one.id) === 0 && holds.get(other.id) === 0);
});

it("[WEBRTC-127] a small room has its turn long before a large one is told everything", async () => {
  const { broadcasts, delivered, roomOf, until } = open();
  const [large, small] = [roomOf("large", 5_000), roomOf("small", 3)];
  for (let index = 0; index < 10; index++) broadcasts.tell(large, chat(`large ${index}`), { sender: members(large)[index] });
  broadcasts.tell(small, chat("small"), { sender: members(small)[0] });
  await until(() => delivered.filter(({ text }) => text === "small").length === 2);
  expect(delivered.length).toBeLessThanOrEqual(3 * itemsOfTurn);
});

it("[WEBRTC-127] who joins gets what follows, who leaves gets no more, and each gets it once", async () => {
  const { broadcasts, delivered, holds, peer, roomOf, until } = open();
  const room = roomOf("large", 500);
  const leaving = members(room).at(-1) as Peer;
  broadcasts.tell(room, chat("before"));
  const newcomer = peer("newcomer");
  join(room, newcomer);
  broadcasts.welcome(room, newcomer, []);
  broadcasts.tell(room, { type: "peer-joined", room: "large", id: newcomer.id, name: "" }, { sender: newcomer });
  room.remove(leaving);
  broadcasts.left(leaving, room);
  broadcasts.tell(room, { type: "peer-left", room: "large", id: leaving.id });
  broadcasts.tell(room, chat("after"));
  await until(() => holds.get(newcomer.id) === 0 && delivered.filter(({ text }) => text === "after").length === 500);
  const of = (id: string) => delivered.filter(({ to }) => to === id).map(({ text }) => text);
  expect(of(newcomer.id)).toEqual(["joined", "peer-left", "after"]);
  expect(of(leaving.id)).toEqual([]);
  expect(of("large 0")).toEqual(["before", "peer-joined", "peer-left", "after"]);
});

it("[WEBRTC-127] what a peer of another instance sends to one stays behind the news that it has joined", async () => {
  const { broadcasts, delivered, peer, roomOf, until } = open();
  const room = roomOf("large", 500);
  const receiver = members(room).at(-1) as Peer;
  const far = peer("far", "instance");
  broadcasts.tell(room, chat("before"));
  join(room, far);
  broadcasts.tell(room, { type: "peer-joined", room: "large", id: far.id, name: "" });
  broadcasts.send(receiver, { type: "chat", from: far.id, name: "", text: "direct", at: 0 });
  broadcasts.send(receiver, { type: "chat", from: "large 0", name: "", text: "at once", at: 0 });
  await until(() => delivered.some(({ text }) => text === "direct"));
  expect(delivered.filter(({ to }) => to === receiver.id).map(({ text }) => text)).toEqual(["at once", "before", "peer-joined", "direct"]);
});

it("[WEBRTC-127] what waits is bounded: beyond that who has sent most is cut off, and the others are told all", async () => {
  const { broadcasts, delivered, cutOff, holds, roomOf, until } = open();
  const room = roomOf("large", 700);
  const [one, other] = members(room) as [Peer, Peer];
  broadcasts.tell(room, chat("first"), { sender: one });
  for (let index = 0; index < 100; index++) broadcasts.tell(room, chat("x".repeat(1 << 20)), { sender: other });
  broadcasts.tell(room, chat("last"), { sender: one });
  expect(delivered.length).toBeLessThanOrEqual(itemsOfTurn);
  await until(() => delivered.filter(({ text }) => text === "last").length === 699);
  expect(delivered.filter(({ text }) => text === "first")).toHaveLength(699);
  expect(new Set(cutOff)).toEqual(new Set([other.id]));
  await until(() => holds.get(other.id) === 0);
});

it("[WEBRTC-127] who joins is told of the others once, however many join, with what is known when it is told", async () => {
  const { broadcasts, delivered, peer, roomOf, until } = open();
  const room = roomOf("large", 500);
  broadcasts.tell(room, chat("before"));
  const newcomers = ["one", "other", "far"].map((id) => peer(id, id === "far" ? "instance" : undefined));
  for (const newcomer of newcomers) {
    join(room, newcomer);
    if (!newcomer.isElsewhere) broadcasts.welcome(room, newcomer, [{ type: "chat", from: "x", name: "", text: "history", at: 0 }]);
    broadcasts.tell(
      room,
      { type: "peer-joined", room: "large", id: newcomer.id, name: "" },
      newcomer.isElsewhere ? {} : { sender: newcomer },
    );
  }
  await until(() => delivered.some(({ to, event }) => to === "other" && event.type === "peer-joined"));
  const known = (id: string) =>
    delivered.flatMap(({ to, event, peers }): readonly string[] => {
      if (to !== id) return [];
      if (event.type === "joined") return peers;
      return event.type === "peer-joined" ? [event.id] : [textOf(event)];
    });
  const before = Array.from({ length: 500 }, (_, index) => `large ${index}`);
  expect(known("one")).toEqual([...before, "history", "other", "far"]);
  expect(known("other")).toEqual([...before, "one", "history", "far"]);
});

it("[WEBRTC-530] who joins is welcomed at once, whatever waits in the room, and is told of nothing that waited", async () => {
  const { broadcasts, delivered, holds, peer, roomOf, until } = open();
  const room = roomOf("large", 200);
  const joinNew = (id: string) => {
    const newcomer = peer(id);
    join(room, newcomer);
    const before = delivered.length;
    broadcasts.welcome(room, newcomer, []);
    expect(delivered.slice(before).map(({ to, text }) => [to, text])).toEqual([[id, "joined"]]);
    broadcasts.tell(room, { type: "peer-joined", room: "large", id, name: "" }, { sender: newcomer });
    return newcomer;
  };
  const gone = members(room)[7] as Peer;
  const crowd = Array.from({ length: 60 }, (_, index) => joinNew(`crowd ${index}`));
  room.remove(gone);
  broadcasts.left(gone, room);
  broadcasts.tell(room, { type: "peer-left", room: "large", id: gone.id }, { by: gone });
  joinNew("newcomer");
  broadcasts.tell(room, chat("after"), { sender: crowd[0] });
  await until(() => [...holds.values()].every((count) => count === 0));
  const of = (id: string) => delivered.filter(({ to }) => to === id);
  expect(new Set(of("newcomer")[0]?.peers)).toEqual(new Set([...room.members.keys()].filter((id) => id !== "newcomer")));
  expect(of("newcomer").map(({ text }) => text)).toEqual(["joined", "after"]);
  for (const [index, { id }] of crowd.entries()) {
    const told = of(id).flatMap(({ event, peers }) => (event.type === "peer-joined" ? [event.id] : peers));
    const known = told.filter((one) => one !== gone.id);
    expect(known.length).toBe(new Set(known).size);
    expect(new Set(known)).toEqual(new Set([...room.members.keys()].filter((one) => one !== id)));
    expect([index, of(id).filter(({ text }) => text === "peer-left").length]).toEqual([index, 1]);
  }
});

it("[WEBRTC-534] a signal to all rooms of a peer reaches those who are in several of them once", async () => {
  const { broadcasts, delivered, roomOf, until } = open();
  const [first, second] = [roomOf("first", 300), roomOf("second", 300)];
  for (const both of members(first).slice(0, 100)) join(second, both);
  const [sender] = members(first) as [Peer];
  broadcasts.tell(first, chat("to all"), { sender });
  broadcasts.tell(second, chat("to all"), { sender, beside: [first] });
  await until(() => delivered.length >= 299 + 300);
  for (let turns = 0; turns < 5; turns++) await nextTurn();
  expect(new Set(delivered.map(({ to }) => to)).size).toBe(delivered.length);
  expect(delivered.length).toBe(299 + 300);
});

it("[WEBRTC-127] who has joined a room in which nothing waits gets what is said while others are still told of it", async () => {
  const { broadcasts, delivered, peer, roomOf, until } = open();
  const room = roomOf("large", 500);
  const newcomer = peer("newcomer");
  join(room, newcomer);
  broadcasts.tell(room, { type: "peer-joined", room: "large", id: newcomer.id, name: "" }, { sender: newcomer });
  broadcasts.tell(room, chat("after"));
  await until(() => delivered.filter(({ text }) => text === "after").length >= 500);
  expect(delivered.some(({ to, text }) => to === newcomer.id && text === "after")).toBe(true);
});

it("[WEBRTC-486] what is for one that has joined comes behind its welcome", async () => {
  const { broadcasts, delivered, peer, roomOf, until } = open();
  const room = roomOf("large", 500);
  broadcasts.tell(room, chat("before"));
  const newcomer = peer("newcomer");
  join(room, newcomer);
  broadcasts.welcome(room, newcomer, []);
  broadcasts.tell(room, { type: "peer-joined", room: "large", id: newcomer.id, name: "" }, { sender: newcomer });
  broadcasts.send(newcomer, chat("direct"));
  const of = () => delivered.filter(({ to }) => to === newcomer.id).map(({ text }) => text);
  await until(() => of().length === 2);
  expect(of()).toEqual(["joined", "direct"]);
  broadcasts.send(newcomer, chat("later"));
  expect(of()).toEqual(["joined", "direct", "later"]);
});

it("[WEBRTC-528] who joins a room again delays nobody who comes, and is told of what is known to it", async () => {
  const { broadcasts, delivered, holds, peer, roomOf, until } = open();
  const room = roomOf("large", 700);
  for (const member of members(room)) broadcasts.welcomeAgain(room, member);
  const newcomer = peer("newcomer");
  join(room, newcomer);
  broadcasts.welcome(room, newcomer, []);
  broadcasts.tell(room, { type: "peer-joined", room: "large", id: newcomer.id, name: "" }, { sender: newcomer });
  await until(() => delivered.some(({ to }) => to === newcomer.id));
  expect(delivered.length).toBeLessThanOrEqual(2 * itemsOfTurn);
  await until(() => delivered.length === 700 + 1 + 700 && [...holds.values()].every((count) => count === 0));
  for (const [to, all] of Map.groupBy(delivered, (delivery) => delivery.to)) {
    const known = all.flatMap(({ event, peers }) => (event.type === "peer-joined" ? [event.id] : peers));
    expect(new Set(known)).toEqual(new Set([...room.members.keys()].filter((id) => id !== to)));
  }
});

it("[WEBRTC-528] the list of a room's members is written anew where one came, went or took another name, and for the one that it is for", () => {
  const { peer } = open();
  let reads = 0;
  const texts: unknown[] = [];
  const [json, packet] = [createJsonEncoder(), createPacketEncoder()];
  const hand = (_: Peer, event: PeerEvent) => {
    const plain = JSON.parse(String(json(event)));
    expect(JSON.parse((packet(event) as string).slice(1))).toEqual(["joined", { room: plain.room, peers: plain.peers }]);
    texts.push(plain);
  };
  const { turns } = workTime();
  const broadcasts = new RoomBroadcasts(hand, atOnce, () => {}, turns);
  class CountedPeer extends Peer {
    override get name(): string {
      reads++;
      return super.name;
    }
    override set name(name: string) {
      super.name = name;
    }
  }
  const room = new Room('a "room"', undefined);
  const all = Array.from({ length: 1_000 }, (_, index) => new CountedPeer(`p${index}`, { ...peer("x").facts, name: "\u0001".repeat(9) }));
  for (const one of all) join(room, one);
  const [first, second] = all as [Peer, Peer];
  const listFor = (one: Peer) => {
    const before = reads;
    broadcasts.welcomeAgain(room, one);
    const made = reads - before;
    expect(texts.pop()).toEqual({
      type: "joined",
      room: 'a "room"',
      peers: members(room).flatMap(({ id, name }) => (id === one.id ? [] : [{ id, name }])),
    });
    return made;
  };
  listFor(first);
  expect(listFor(second)).toBeLessThanOrEqual(4 * 50);
  second.name = "other";
  room.remove(all[500] as Peer);
  join(room, peer("late"));
  expect(listFor(first)).toBeLessThanOrEqual(8 * 50);
  for (const one of all.slice(2)) room.remove(one);
  expect(listFor(second)).toBeLessThanOrEqual(4 * 50);
});
