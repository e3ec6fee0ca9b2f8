import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
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
