import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import {
  errorOf,
  evenPort,
  hasIpv6,
  isFreePort,
  requestedFamily,
  startTurn,
  TurnClientUnderTest,
  type TurnUnderTest,
} from "./turn-harness.ts";
import { type JsonClient, startWebrtc } from "./webrtc-harness.ts";

const overIpv6 = { host: "[::1]" };

it("[WEBRTC-542] one address may have all peers until another one asks: that has most loses its newest to it", async () => {
  const service = await startWebrtc({ peers: 4 });
  const own: JsonClient[] = [];
  for (let count = 0; count < 4; count++) own.push(await service.connect());
  const refused = new WebSocket(`ws://127.0.0.1:${service.port}/ws`);
  onEnd(() => refused.terminate());
  const [code, reason] = (await once(refused, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1_013, expect.stringMatching(/too many peers.*WEBRTC_PEERS/)]);

  const bystander = await service.connect(overIpv6);
  await own[3]?.closed;
  expect((await service.ended(({ target }) => target === own[3]?.id)).outcome).toMatch(/too many peers.*WEBRTC_PEERS/);
  await service.connect(overIpv6);
  await own[2]?.closed;
  // Both have two now: nobody gives way any more.
  const third = new WebSocket(`ws://[::1]:${service.port}/ws`);
  onEnd(() => third.terminate());
  expect((await once(third, "close"))[0]).toBe(1_013);
  const open = [own[0], own[1], bystander] as JsonClient[];
  for (const client of open) await client.join("a");
  expect(open.map(({ socket }) => socket.readyState)).toEqual([WebSocket.OPEN, WebSocket.OPEN, WebSocket.OPEN]);
});

it("[WEBRTC-543] one address may have all rooms until another one asks: first those of one address give way, the newest before the others", async () => {
  const service = await startWebrtc({ rooms: 5 });
  const greedy = await service.connect();
  const other = await service.connect(overIpv6);
  for (const room of ["a", "b", "c", "default", "d"]) expect(await greedy.join(room)).toMatchObject({ type: "joined" });
  await other.join("d");
  await greedy.settled();
  // Who has most gets no more, whatever it calls the room.
  expect(await greedy.join("e")).toMatchObject({ code: "too-many-rooms", message: expect.stringMatching(/5 rooms.*WEBRTC_ROOMS/) });

  const told = () => greedy.all("error").filter(({ code }) => code === "room-closed");
  expect(await other.join("mine 1")).toMatchObject({ type: "joined" });
  await until(() => told().length === 1);
  expect(told()[0]?.message).toMatch(/^The room c was closed: .*WEBRTC_ROOMS/);
  expect(await other.join("mine 2")).toMatchObject({ type: "joined" });
  await until(() => told().length === 2);
  expect(told()[1]?.message).toMatch(/^The room b /);
  // Its own two, and two of the other address: d is shared, and the default room is nobody's.
  expect(await other.join("mine 3")).toMatchObject({ code: "too-many-rooms" });
  expect(await greedy.join("e")).toMatchObject({ code: "too-many-rooms" });

  // The room is one of those who stay in it.
  greedy.send({ type: "leave", room: "d" });
  await greedy.settled();
  expect(await greedy.join("e")).toMatchObject({ type: "joined" });
  await until(() => other.all("error").some(({ message }) => String(message).startsWith("The room d was closed: ")));
  const rooms = await until(() => {
    const names = service.views.get("rooms")?.rooms.map(({ name }) => name) ?? [];
    return names.includes("e") && names;
  });
  expect([...rooms].sort()).toEqual(["a", "default", "e", "mine 1", "mine 2"]);
});

const turnClient = (server: TurnUnderTest, host = "127.0.0.1") => TurnClientUnderTest.connect(server, "udp", host);
const bob = { credentials: { username: "bob", password: "builder" } };

it.skipIf(!hasIpv6)(
  "[WEBRTC-544] one address may have all allocations until another one asks: that has most loses its newest to it",
  async () => {
    const server = await startTurn({ limits: { allocations: 4 } });
    const own = [];
    for (let count = 0; count < 2; count++) {
      const client = await turnClient(server);
      await client.relayed([], count === 0 ? bob : {});
      own.push(client);
    }
    // The port that is kept for somebody is one of them.
    const pair = await turnClient(server);
    await pair.relayed([evenPort(true)]);
    const refused = await turnClient(server);
    expect(errorOf(await refused.allocate([], bob))).toBe(508);
    expect(server.requests.at(-1)?.why).toMatch(/TURN_ALLOCATIONS.*no other address has more/);

    const bystander = await turnClient(server, "::1");
    expect(await bystander.relayed()).toHaveLength(1);
    expect(server.engine.statistics()).toMatchObject({ allocations: 4, reserved: 0 });
    expect(server.closed).toEqual([]);
    await (await turnClient(server, "::1")).relayed();
    expect(server.closed.map(({ reason }) => reason)).toEqual(["all places or ports are taken, and its address has most of them"]);
    expect(errorOf(await pair.refresh(600))).toBe(437);
    // Both have two now.
    expect(errorOf(await (await turnClient(server, "::1")).allocate())).toBe(508);
    expect(errorOf(await (own[1] as TurnClientUnderTest).refresh(600))).toBe(0);
    await bystander.refresh(0);
    expect(errorOf(await refused.allocate())).toBe(0);
  },
);

it.skipIf(!hasIpv6)(
  "[WEBRTC-544] so it is with all ports, of a family that is free then, and nobody loses one for an even port",
  async () => {
    let first = 21_600;
    while (!(await Promise.all([0, 1, 2, 3].map((next) => isFreePort(first + next)))).every(Boolean)) first += 4;
    const server = await startTurn({ relays: { ports: { first, last: first + 3 } } });
    for (let count = 0; count < 3; count++) await (await turnClient(server)).relayed();
    const last = await turnClient(server);
    await last.relayed();
    expect(errorOf(await (await turnClient(server)).allocate([], bob))).toBe(508);
    const bystander = await turnClient(server, "::1");
    expect(errorOf(await bystander.allocate([evenPort(false)]))).toBe(508);
    expect(server.closed).toEqual([]);
    // The other family has ports of its own.
    expect(await bystander.relayed([requestedFamily(2)])).toHaveLength(1);
    expect(server.closed).toEqual([]);
    const other = await turnClient(server, "::1");
    const [taken] = await other.relayed();
    expect(server.closed.map(({ allocation }) => allocation.relayed[0]?.port)).toEqual([taken?.port]);
    expect(errorOf(await last.refresh(600))).toBe(437);
  },
);

it.skipIf(!hasIpv6)("[WEBRTC-544] requests whose ports are still being bound count for their address", async () => {
  const server = await startTurn({ limits: { allocations: 8 } });
  const bystanders = await Promise.all(Array.from({ length: 3 }, () => turnClient(server, "::1")));
  for (const client of bystanders) await client.relayed();
  const many = await Promise.all(Array.from({ length: 30 }, () => turnClient(server)));
  const codes = await Promise.all(many.map(async (client) => errorOf(await client.allocate())));
  expect(codes.filter((code) => code === 0)).toHaveLength(5);
  expect(server.closed).toEqual([]);
  for (const client of bystanders) expect(errorOf(await client.refresh(600))).toBe(0);
});
