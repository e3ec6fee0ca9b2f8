/** Sessions of Socket.IO over long polling: how many there are, and how they end. */
import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, it } from "vitest";
import { ClientSessions } from "../../servers/webrtc/dialects/client-sessions.ts";
import { onEnd } from "../support/start-service.ts";
import { connectWire, startWebrtc } from "./dialect-harness.ts";
import { connect } from "./socketio-client.ts";

it("[WEBRTC-229] sessions of polling count like connections: where there are too many, those end that nobody polls", async () => {
  const connectionsPerAddress = 6;
  const webrtc = await startWebrtc({ connectionsPerAddress });
  const base = `http://${webrtc.host}/socket.io/?EIO=4&transport=polling`;
  const open = async () => JSON.parse((await (await fetch(base)).text()).slice(1)) as { sid: string };
  const polled = await connect(webrtc, { transports: ["polling"] });
  const sids: string[] = [];
  for (let index = 0; index < 3 * connectionsPerAddress; index++) sids.push((await open()).sid);
  const isOpen = async (sid: string) => (await fetch(`${base}&sid=${sid}`, { method: "POST", body: "6" })).status === 200;
  const found = [];
  for (const sid of sids) found.push(await isOpen(sid));
  const kept = connectionsPerAddress - 1;
  expect(found).toEqual(sids.map((_, index) => index >= sids.length - kept));
  expect(await polled.socket.emitWithAck("join", { room: "r1" })).toEqual({ room: "r1", peers: [] });
  // Requests behind one another in one connection wait for all of them.
  const { hostname, port } = new URL(base);
  const socket = createConnection({ host: hostname, port: Number(port) });
  onEnd(() => socket.destroy());
  await once(socket, "connect");
  for (const sid of sids.slice(-kept)) socket.write(`GET /socket.io/?EIO=4&transport=polling&sid=${sid} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => webrtc.service.rows().filter(({ verb, tone }) => verb === "GET" && tone === "pending").length).toBe(kept + 1);
  expect(await (await fetch(base)).json()).toEqual({
    code: 4,
    message: expect.stringMatching(/^Too many clients.*WEBRTC_CONNECTIONS_PER_ADDRESS/),
  });
  socket.destroy();
  await expect.poll(async () => (await fetch(base)).status).toBe(200);
});

it("[WEBRTC-570] a client over long polling whose connection ends while a request waits has left at once", async () => {
  const webrtc = await startWebrtc({ heartbeatSeconds: 3_600 });
  const other = await connect(webrtc);
  const target = `/socket.io/?EIO=4&transport=polling`;
  const base = `http://${webrtc.host}${target}`;
  const { sid } = JSON.parse((await (await fetch(base)).text()).slice(1)) as { sid: string };
  await fetch(`${base}&sid=${sid}`, { method: "POST", body: "40" });
  await other.until("peer-joined");
  for (let polled = ""; !polled.includes("joined"); ) polled += await (await fetch(`${base}&sid=${sid}`)).text();
  const { hostname, port } = new URL(base);
  const socket = createConnection({ host: hostname, port: Number(port) });
  onEnd(() => socket.destroy());
  socket.write(`GET ${target}&sid=${sid} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => webrtc.service.rows().some(({ verb, tone }) => verb === "GET" && tone === "pending")).toBe(true);
  socket.destroy();
  await other.until("peer-left");
});

it("[WEBRTC-570] a POST without a body ends its session, as one that is no packet does", async () => {
  const webrtc = await startWebrtc({ heartbeatSeconds: 3_600 });
  const base = `http://${webrtc.host}/socket.io/?EIO=4&transport=polling`;
  const { sid } = JSON.parse((await (await fetch(base)).text()).slice(1)) as { sid: string };
  const { hostname, port } = new URL(base);
  const socket = createConnection({ host: hostname, port: Number(port) });
  onEnd(() => socket.destroy());
  socket.write(`POST /socket.io/?EIO=4&transport=polling&sid=${sid} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, "data");
  expect((await fetch(`${base}&sid=${sid}`)).status).toBe(400);
});

it("[WEBRTC-546] sessions of polling and WebSockets of every dialect have one count by address, and others have theirs", async () => {
  const webrtc = await startWebrtc({ connectionsPerAddress: 12 });
  const base = `http://${webrtc.host}/socket.io/?EIO=4&transport=polling`;
  const open = async () => JSON.parse((await (await fetch(base)).text()).slice(1)) as { sid: string };
  const isOpen = async (sid: string) => (await fetch(`${base}&sid=${sid}`, { method: "POST", body: "6" })).status === 200;
  const ended = async () => {
    const all = [];
    for (const sid of sids) if (!(await isOpen(sid))) all.push(sids.indexOf(sid));
    return all;
  };
  await connectWire(webrtc, "/ws");
  // It has one session, whichever way it goes on.
  const upgraded = await connect(webrtc, { transports: ["polling", "websocket"] });
  await expect.poll(() => upgraded.socket.io.engine.transport.name).toBe("websocket");
  const sids: string[] = [];
  for (let count = 0; count < 12; count++) sids.push((await open()).sid);
  expect(await ended()).toEqual([0, 1]);
  // A WebSocket takes the place of one that nobody polls.
  await connectWire(webrtc, "/y-webrtc");
  expect(await ended()).toEqual([0, 1, 2]);
  const { hostname, port } = new URL(base);
  const socket = createConnection({ host: hostname, port: Number(port) });
  onEnd(() => socket.destroy());
  await once(socket, "connect");
  for (const sid of sids.slice(3)) socket.write(`GET /socket.io/?EIO=4&transport=polling&sid=${sid} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => webrtc.service.rows().filter(({ verb, tone }) => verb === "GET" && tone === "pending").length).toBe(9);
  const refused = await connectWire(webrtc, "/ws");
  expect(await refused.closed).toEqual({
    code: 1_013,
    reason: expect.stringMatching(/^Too many clients.*WEBRTC_CONNECTIONS_PER_ADDRESS/),
  });
  expect((await (await connectWire({ ...webrtc, host: `[::1]:${port}` }, "/ws")).until("welcome")).type).toBe("welcome");
  expect(upgraded.socket.connected).toBe(true);
});

it("[WEBRTC-571] where all sessions are taken, and none can end for its client, the address that has most gives way to another one", () => {
  const sessions = new ClientSessions({ connections: 5, connectionsPerAddress: 4 });
  const ended: string[] = [];
  const open = (name: string, address: string) => {
    if (!sessions.hasRoomFor(address)) return false;
    sessions.add({ name }, address, () => ended.push(name));
    return true;
  };
  const [one, other] = ["192.0.2.1", "2001:db8::1"];
  for (const name of ["a", "b", "c", "d"]) expect(open(name, one)).toBe(true);
  expect(open("e", one)).toBe(false);
  expect([open("f", other), open("g", other), open("h", other)]).toEqual([true, true, false]);
  expect(open("i", "192.0.2.2")).toBe(true);
  expect(ended).toEqual(["d", "c"]);
});
