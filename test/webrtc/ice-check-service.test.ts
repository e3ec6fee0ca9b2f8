import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import type { IceCheck } from "../../contract/services/webrtc-ice-check.ts";
import { unauthenticated } from "../../servers/webrtc/ice-check/allocation-refusals.ts";
import { scopeOf, shareNetwork } from "../../servers/webrtc/ice-check/networks.ts";
import { RequestHistory } from "../../servers/webrtc/ice-check/request-history.ts";
import { noImpairment } from "../../servers/webrtc/turn/impairment.ts";
import { type AllocationState, faultReasons } from "../../servers/webrtc/turn/turn-observer.ts";
import { answer, offer } from "../renderer-webrtc/samples.ts";
import { until } from "../support/until.ts";
import { channelMessage, errorOf, realm, TurnClientUnderTest, user } from "./turn-harness.ts";
import { type JsonClient, startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const bare = (sdp: string) => sdp.replaceAll(/a=candidate:.*\r\n/g, "");
type CandidateType = "host" | "srflx" | "relay";
const candidate = (type: CandidateType, address: string, port = 50_000) => ({
  candidate: `candidate:1 1 udp 1 ${address} ${port} typ ${type}${type === "host" ? "" : " raddr 192.168.1.5 rport 50000"}`,
  sdpMid: "0",
});

type Candidates = readonly (readonly [type: CandidateType, address: string, port?: number])[];

/** Ada calls Bob; both send these candidates, and that there are no more. */
async function call(service: WebrtcUnderTest, ofAda: Candidates, ofBob: Candidates): Promise<readonly [JsonClient, JsonClient]> {
  const [ada, bob] = [await service.connect(), await service.connect()];
  await ada.join("r", { name: "Ada" });
  await bob.join("r", { name: "Bob" });
  ada.send({ type: "offer", to: bob.id, sdp: bare(offer) });
  await bob.messages.until(({ type }) => type === "offer");
  bob.send({ type: "answer", to: ada.id, sdp: bare(answer) });
  for (const [from, to, candidates] of [
    [ada, bob, ofAda],
    [bob, ada, ofBob],
  ] as const) {
    for (const one of candidates) from.send({ type: "candidate", to: to.id, candidate: candidate(...one) });
    from.send({ type: "candidate", to: to.id, candidate: null });
    await from.settled();
  }
  return [ada, bob];
}

/** What the page shows of one of them, as soon as the connection is given up. */
async function causesOf(service: WebrtcUnderTest, peers: readonly [JsonClient, JsonClient], whose: JsonClient): Promise<string> {
  const check = (): Promise<IceCheck | null> => service.act("ice.check", { peers: [peers[0].id, peers[1].id] });
  await until(async () => (await check())?.verdict === "failed");
  const finding = (await check())?.findings.find(({ peer, tone }) => peer === whose.id && tone === "bad");
  return `${finding?.text} ${finding?.advice}`;
}

const turnPortOf = (service: WebrtcUnderTest): number => Number(/turn:127\.0\.0\.1:(\d+)/.exec(service.urlOf("TURN"))?.[1]);

it("[WEBRTC-410] the running service names host candidates of different networks", async () => {
  const service = await startWebrtc();
  const peers = await call(service, [["host", "192.168.1.5"]], [["host", "10.0.0.9"]]);
  expect(await causesOf(service, peers, peers[0])).toMatch(
    /^Ada: only host candidates of different networks and no relay offered\. Give the client the ICE servers of the welcome\. /,
  );
});

it("[WEBRTC-411] the running service names an allocation that was refused for wrong credentials", async () => {
  const service = await startWebrtc();
  const peers = await call(
    service,
    [
      ["host", "192.168.1.5"],
      ["srflx", "203.0.113.7"],
    ],
    [["host", "10.0.0.9"]],
  );
  const username = peers[0].iceServers.find((server) => server.username !== undefined)?.username ?? "";
  const turn = await TurnClientUnderTest.connect({ port: turnPortOf(service), tlsPort: 0 });
  expect(errorOf(await turn.allocate([], { credentials: { username, password: "wrong" } }))).toBe(401);
  expect(await causesOf(service, peers, peers[0])).toBe(
    "Ada: reflexive but no relay: the allocation over UDP was refused with 401, wrong credentials. Use user name and credential of the newest welcome unchanged: they end after a time.",
  );
});

it("[WEBRTC-412] the running service names UDP that never arrived", async () => {
  const service = await startWebrtc();
  const port = turnPortOf(service);
  const peers = await call(service, [["host", "192.168.1.5"]], []);
  expect(await causesOf(service, peers, peers[1])).toMatch(
    new RegExp(`^Bob: no candidates, neither reflexive nor relay: UDP to ${port} never arrived, try TCP \\(turn:…:${port}\\?transport=tcp`),
  );
});

it("[WEBRTC-581] the running service names a client that does not trust its certificate", async () => {
  const service = await startWebrtc({ turns: true });
  const peers = await call(service, [["host", "192.168.1.5"]], [["host", "10.0.0.9"]]);
  const [, port = ""] = /turns:[^:]+:(\d+)/.exec(JSON.stringify(peers[0].iceServers)) ?? [];
  await once(connectTls({ host: "127.0.0.1", port: Number(port), ca: [] }), "error");
  await until(async () => /TLS/.test(await causesOf(service, peers, peers[0])));
  expect(await causesOf(service, peers, peers[0])).toMatch(
    /^Ada: no relay: a TLS handshake with turns: from its address, 127\.0\.0\.1, failed \d+ s ago: the client closed the connection, as some do that do not trust the service's certificate\. Let its computer trust/,
  );
});

it("[WEBRTC-425] the running service says connected for relays of a configured user, and names the cut of one during the call", async () => {
  const service = await startWebrtc({ turnUsers: [`${user.username}:${user.password}`], turnRealm: realm });
  const server = { port: turnPortOf(service), tlsPort: 0 };
  const [one, other] = [await TurnClientUnderTest.connect(server), await TurnClientUnderTest.connect(server)];
  const [onePort, otherPort] = [await one.relayedPort(), await other.relayedPort()];
  const peers = await call(service, [["relay", "127.0.0.1", onePort]], [["relay", "127.0.0.1", otherPort]]);
  const check = (): Promise<IceCheck | null> => service.act("ice.check", { peers: [peers[0].id, peers[1].id] });
  expect((await check())?.findings[0]).toMatchObject({ code: "no-permission", peer: peers[0].id });
  await one.bindChannel(0x4000, otherPort);
  await other.bindChannel(0x4000, onePort);
  one.send(channelMessage(0x4000, "there"));
  await until(() => other.channelData.length > 0);
  other.send(channelMessage(0x4000, "back"));
  await until(() => one.channelData.length > 0);
  const connected = await check();
  expect(connected?.verdict).toBe("connected");
  const allocation = connected?.sides[0].relays[0]?.allocation ?? 0;
  await service.act("relay.fault", { allocation, fault: { kind: "cut" } });
  const cut = await check();
  expect(cut?.verdict).toBe("failed");
  expect(cut?.findings[0]).toMatchObject({
    code: "relay-impaired",
    tone: "bad",
    text: `The relay of Ada, 127.0.0.1:${onePort}, passes nothing: it is cut on request.`,
  });
});

it("[WEBRTC-422] networks: private ones by their prefix, public ones reach each other, loopback and link-local by themselves", () => {
  for (const [one, other, expected] of [
    ["192.168.1.5", "192.168.1.200", true],
    ["192.168.1.5", "192.168.2.5", false],
    ["10.0.0.1", "203.0.113.7", false],
    ["203.0.113.7", "198.51.100.4", true],
    ["fd00:1:2:3::1", "fd00:1:2:3::2", true],
    ["fd00:1:2:3::1", "fd00:1:2:4::1", false],
    ["2001:db8::1", "192.168.1.1", false],
    ["a.local", "b.local", false],
    ["", "", false],
  ] as const)
    expect(shareNetwork(one, other), `${one} ${other}`).toBe(expected);
  expect(["127.0.0.1", "::1", "fe80::1%eth0", "169.254.1.1", "100.64.0.1", "8.8.8.8", "X.LOCAL", "?"].map(scopeOf)).toEqual([
    "loopback",
    "loopback",
    "link-local",
    "link-local",
    "private",
    "public",
    "mdns",
    "unknown",
  ]);
});

it("[WEBRTC-423] requests are kept by user and by address, within bounds; a request without credentials is told apart from a wrong one", () => {
  let at = 1_000;
  const history = new RequestHistory({ allocations: () => [], isPeer: (user) => user === "ada", now: () => at });
  const client = { address: "127.0.0.1", port: 1, transport: "udp" } as const;
  const event = { client, why: undefined, software: undefined, allocation: undefined };
  history.onRequest({ ...event, method: "binding", code: 0, username: undefined });
  history.onRequest({ ...event, method: "allocate", code: 401, username: undefined });
  history.onRequest({ ...event, method: "allocate", code: 401, username: "1799999999:ada" });
  at = 2_000;
  history.onRequest({ ...event, method: "allocate", code: 401, username: "1799999999:ada" });
  const of = (peer: string, since = 0) =>
    history.requestsOf(peer, "127.0.0.1", since).map(({ method, code, count }) => `${method} ${code} ×${count}`);
  // What came without credentials from the socket that named her is hers, and of nobody else at her address.
  expect(of("ada")).toEqual([`binding 0 ×1`, `allocate ${unauthenticated} ×1`, "allocate 401 ×2"]);
  expect(of("bob")).toEqual([]);
  history.onRequest({ ...event, method: "binding", code: 0, username: undefined });
  expect([of("ada")[0], of("bob")]).toEqual(["binding 0 ×2", []]);
  const other = { ...event, client: { ...client, port: 2 } };
  history.onRequest({ ...other, method: "binding", code: 0, username: undefined });
  expect(of("bob")).toEqual(["binding 0 ×1"]);
  // What another peer of this address asked is not counted for one that has not asked, what no peer asked is.
  history.onRequest({ ...other, method: "allocate", code: 401, username: "1799999999:elsewhere" });
  expect(of("bob")).toEqual(["binding 0 ×1", "allocate 401 ×1"]);
  // A right one that a fault on demand refuses is told apart.
  history.onRequest({ ...event, method: "allocate", code: 486, why: faultReasons.refused, username: "1799999999:ada" });
  expect(history.requestsOf("ada", "127.0.0.1", 0).filter(({ isFault }) => isFault)).toMatchObject([{ code: 486, count: 1 }]);
  for (let user = 0; user < 5_000; user++) history.onRequest({ ...event, method: "allocate", code: 0, username: `1:u${user}` });
  expect(of("ada", 3_000)).toEqual([]);
});

it("[WEBRTC-426] when data last passed a relay is known from its counts, and when its client last asked for it", () => {
  let at = 1_000;
  const client = { address: "127.0.0.1", port: 1, transport: "udp" } as const;
  const state = (toPeers: number, fromPeers: number): AllocationState => ({
    ...{ id: 7, client, username: "1:ada", user: "ada", software: undefined, relayed: [{ address: "127.0.0.1", port: 50_112 }] },
    ...{ ageMs: 0, leftMs: 1, revision: 0, permissions: [], channels: [], impairment: noImpairment },
    ...{ toPeers: { datagrams: toPeers, bytes: 0 }, fromPeers: { datagrams: fromPeers, bytes: 0 } },
    lost: { notPermitted: 0, withoutChannel: 0, impaired: 0, clientBehind: 0, unsendable: 0 },
  });
  let open = [state(0, 0)];
  const history = new RequestHistory({ allocations: () => open, isPeer: () => false, now: () => at });
  const times = () => history.relays().map((one) => [one.lastToPeersAt, one.lastFromPeersAt, one.lastRequestAt]);
  history.onOpened(state(0, 0));
  expect(times()).toEqual([[0, 0, 0]]);
  at = 2_000;
  history.tick([state(3, 0)]);
  at = 3_000;
  history.onRequest({ client, method: "refresh", code: 0, why: undefined, username: "1:ada", software: undefined, allocation: 7 });
  open = [state(3, 1)];
  expect(times()).toEqual([[2_000, 3_000, 3_000]]);
  at = 4_000;
  expect(times()).toEqual([[2_000, 3_000, 3_000]]);
  open = [];
  history.onClosed(state(4, 1), "expired");
  expect(history.relays()).toMatchObject([{ user: "ada", relayed: "127.0.0.1:50112", closed: "expired", lastToPeersAt: 4_000 }]);
});
