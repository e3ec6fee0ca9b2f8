/** Sessions of Socket.IO over long polling: how many there are, and how they end. */
import { once } from "node:events";
import { expect, it } from "vitest";
import { ClientSessions } from "../../servers/webrtc/dialects/client-sessions.ts";
import { connectWire, startWebrtc } from "./dialect-harness.ts";
import { connect, isOpen, openPolling, type PollingSession, pollingUrl, sendAtOnce, waitingPolls } from "./socketio-client.ts";

it("[WEBRTC-229] sessions of polling count like connections: where there are too many, those end that nobody polls", async () => {
  const connectionsPerAddress = 6;
  const webrtc = await startWebrtc({ connectionsPerAddress });
  const { host } = webrtc;
  const polled = await connect(webrtc, { transports: ["polling"] });
  const sessions: PollingSession[] = [];
  for (let index = 0; index < 3 * connectionsPerAddress; index++) sessions.push(await openPolling(host));
  const found = [];
  for (const session of sessions) found.push(await isOpen(session));
  const kept = connectionsPerAddress - 1;
  expect(found).toEqual(sessions.map((_, index) => index >= sessions.length - kept));
  expect(await polled.socket.emitWithAck("join", { room: "r1" })).toEqual({ room: "r1", peers: [] });
  const socket = await sendAtOnce("GET", sessions.slice(-kept));
  await expect.poll(() => waitingPolls(webrtc)).toBe(kept + 1);
  expect(await (await fetch(pollingUrl(host))).json()).toEqual({
    code: 4,
    message: expect.stringMatching(/^Too many clients.*WEBRTC_CONNECTIONS_PER_ADDRESS/),
  });
  socket.destroy();
  await expect.poll(async () => (await fetch(pollingUrl(host))).status).toBe(200);
});

it("[WEBRTC-570] a client over long polling whose connection ends while a request waits has left at once", async () => {
  const webrtc = await startWebrtc({ heartbeatSeconds: 3_600 });
  const other = await connect(webrtc);
  const session = await openPolling(webrtc.host);
  await fetch(session.url, { method: "POST", body: "40" });
  await other.until("peer-joined");
  for (let polled = ""; !polled.includes("joined"); ) polled += await (await fetch(session.url)).text();
  const socket = await sendAtOnce("GET", [session]);
  await expect.poll(() => waitingPolls(webrtc)).toBe(1);
  socket.destroy();
  await other.until("peer-left");
});

it("[WEBRTC-570] a POST without a body ends its session, as one that is no packet does", async () => {
  const webrtc = await startWebrtc({ heartbeatSeconds: 3_600 });
  const session = await openPolling(webrtc.host);
  await once(await sendAtOnce("POST", [session]), "data");
  expect((await fetch(session.url)).status).toBe(400);
});

it("[WEBRTC-546] sessions of polling and WebSockets of every dialect have one count by address, and others have theirs", async () => {
  const webrtc = await startWebrtc({ connectionsPerAddress: 12 });
  const sessions: PollingSession[] = [];
  const ended = async () => {
    const all = [];
    for (const session of sessions) if (!(await isOpen(session))) all.push(sessions.indexOf(session));
    return all;
  };
  await connectWire(webrtc, "/ws");
  // It has one session, whichever way it goes on.
  const upgraded = await connect(webrtc, { transports: ["polling", "websocket"] });
  await expect.poll(() => upgraded.socket.io.engine.transport.name).toBe("websocket");
  for (let count = 0; count < 12; count++) sessions.push(await openPolling(webrtc.host));
  expect(await ended()).toEqual([0, 1]);
  // A WebSocket takes the place of one that nobody polls.
  await connectWire(webrtc, "/y-webrtc");
  expect(await ended()).toEqual([0, 1, 2]);
  await sendAtOnce("GET", sessions.slice(3));
  await expect.poll(() => waitingPolls(webrtc)).toBe(9);
  const refused = await connectWire(webrtc, "/ws");
  expect(await refused.closed).toEqual({
    code: 1_013,
    reason: expect.stringMatching(/^Too many clients.*WEBRTC_CONNECTIONS_PER_ADDRESS/),
  });
  const { port } = new URL(pollingUrl(webrtc.host));
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
