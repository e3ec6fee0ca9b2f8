import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { ClientInput } from "../../servers/webrtc/dialects/client-input.ts";
import { Peer, type PeerLink } from "../../servers/webrtc/signalling/peer.ts";
import { Room } from "../../servers/webrtc/signalling/room.ts";
import { Rooms } from "../../servers/webrtc/signalling/rooms.ts";
import { UnsentBytes } from "../../servers/webrtc/signalling/unsent-bytes.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

function peerOf(id: string, link: Partial<PeerLink> = {}): Peer {
  const connection = { id: 1, remote: "127.0.0.1:1", local: "127.0.0.1:2", openedAt: 0 };
  return new Peer(id, { dialect: "socketio", link: link as PeerLink, connection: connection as never, userAgent: "" });
}

it("[WEBRTC-487] what waited of a thousand clients is carried out in turns, each in its order", async () => {
  const { turns, pass } = workTime();
  const taken: number[][] = [];
  let count = 0;
  const inputs = Array.from({ length: 1_000 }, (_, client) => {
    const own: number[] = [];
    taken.push(own);
    const take = (message: number) => {
      own.push(message);
      count++;
      pass();
    };
    return new ClientInput<number>(turns.connection(`10.0.${client >> 8}.${client & 0xff}`), take, () => {});
  });
  for (const input of inputs) {
    input.hold();
    for (const message of [1, 2, 3]) input.receive(message);
  }
  for (const input of inputs) input.release();
  expect(count).toBeLessThanOrEqual(itemsOfTurn);
  while (count < 3_000) {
    const before = count;
    await nextTurn();
    expect(count - before).toBeLessThanOrEqual(2 * itemsOfTurn);
  }
  expect(taken.every((own) => own.join() === "1,2,3")).toBe(true);
  turns.close();
});

it("[WEBRTC-124] what a dialect answers itself counts for all clients: those for whom most waits are disconnected", async () => {
  const links = Array.from({ length: 3 }, () => ({ unsentBytes: 0, unsentMemory: 0 }));
  const peers = links.map((link, index) => peerOf(String(index), link));
  const ended: string[] = [];
  const unsent = new UnsentBytes(
    { unsentBytes: 1_000, allUnsentBytes: 1_500 },
    () => peers.values(),
    ({ id }) => ended.push(id),
  );
  for (const [index, peer] of peers.entries())
    unsent.watch(peer, () => {
      (links[index] as { unsentMemory: number }).unsentMemory += 600 + index;
    });
  await nextTurn();
  expect(ended).toEqual(["2"]);
});

it("[WEBRTC-535] what a client gets at once when it joins may be more than its limit; what comes behind that has the limit, and so has the next list", async () => {
  const link = { unsentBytes: 0, unsentMemory: 0 };
  const peer = peerOf("joined", link);
  const ended: string[] = [];
  const unsent = new UnsentBytes(
    { unsentBytes: 1_000, allUnsentBytes: 1 << 30 },
    () => [peer].values(),
    ({ id }) => ended.push(id),
  );
  const gets = (bytes: number) =>
    unsent.watch(peer, () => {
      link.unsentBytes += bytes;
    });
  const endedAfter = async (send: () => void) => {
    send();
    await nextTurn();
    return ended.length > 0;
  };
  const joins = () =>
    unsent.excuse(peer, () => {
      for (const bytes of [100, 5_000, 3_000]) gets(bytes);
    });
  expect(await endedAfter(joins)).toBe(false);
  expect(await endedAfter(() => gets(1_000))).toBe(false);
  expect(await endedAfter(() => unsent.look(peer))).toBe(false);
  // It has read all, and is as anybody else.
  link.unsentBytes = 0;
  expect(await endedAfter(() => gets(1_000))).toBe(false);
  expect(await endedAfter(joins)).toBe(false);
  // It asks for the list again and again, and reads nothing.
  expect(await endedAfter(joins)).toBe(true);
});

it("[WEBRTC-536] the largest rooms are known, while members come and go", () => {
  const rooms = new Rooms();
  const [a, b, c] = ["a", "b", "c"].map((name, since) => rooms.open(new Room(name, undefined, since))) as [Room, Room, Room];
  const come = (room: Room, id: string) => rooms.enter(room, peerOf(id));
  const leave = (room: Room, id: string) => rooms.leave(room, room.members.get(id) as Peer);
  const names = (most = 10) => rooms.largest(most).map(({ name }) => name);
  for (const room of [c, b, a]) come(room, "1");
  expect(names()).toEqual(["a", "b", "c"]);
  for (const id of ["2", "3"]) come(c, id);
  come(b, "2");
  expect([names(), names(2)]).toEqual([
    ["c", "b", "a"],
    ["c", "b"],
  ]);
  for (const id of ["1", "2"]) leave(c, id);
  expect(names()).toEqual(["b", "a", "c"]);
  leave(a, "1");
  expect([names(), [...rooms.keys()]]).toEqual([
    ["b", "c"],
    ["b", "c"],
  ]);
});

it("[WEBRTC-244] the id of a member is kept once, the newest, until it leaves; an id of two is nobody's", () => {
  const room = new Room("t", undefined);
  const [one, other] = [peerOf("one"), peerOf("other")];
  for (const peer of [one, other]) room.add(peer);
  room.aliases.set("a", "one");
  room.aliases.set("b", "one");
  expect([room.aliases.peerOf("a"), room.aliases.peerOf("b"), room.aliases.of("one")]).toEqual([undefined, "one", "b"]);
  room.aliases.set("b", "other");
  expect([room.aliases.peerOf("b"), room.aliases.of("one"), room.aliases.of("other")]).toEqual([undefined, "b", "b"]);
  room.remove(other);
  expect([room.aliases.peerOf("b"), room.aliases.of("other")]).toEqual(["one", undefined]);
});
