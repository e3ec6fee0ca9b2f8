import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { PeerFault, WebrtcFaultViews } from "../../contract/services/webrtc-faults.ts";
import type { LadderAnswer } from "../../contract/services/webrtc-signals.ts";
import { FaultRegistry } from "../../servers/core/faults/fault-registry.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { SignalFaults } from "../../servers/webrtc/faults/signal-faults.ts";
import { outcomeOf } from "../../servers/webrtc/observe/signal-outcome.ts";
import { HeldDeliveries } from "../../servers/webrtc/signalling/held-deliveries.ts";
import type { PassingSignal } from "../../servers/webrtc/signalling/signal-path.ts";
import { httpRequest } from "../support/http-request.ts";
import { onEnd } from "../support/start-service.ts";
import { unchanged, until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { errorOf, Peer, TurnClientUnderTest, user } from "./turn-harness.ts";
import { type JsonClient, startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

/** As the page has it, a moment after a change. */
const faultsOf = (service: WebrtcUnderTest) => service.views.get("faults") as WebrtcFaultViews["faults"];

const overHttp = async (service: WebrtcUnderTest, method: string, path: string, headers = {}) => {
  const { status, body } = await httpRequest(`http://127.0.0.1:${service.port}${path}`, { method, headers });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
};

async function inOneRoom(service: WebrtcUnderTest, count: number): Promise<JsonClient[]> {
  const clients: JsonClient[] = [];
  for (let index = 0; index < count; index++) {
    const client = await service.connect();
    await client.join("test", { name: `peer ${index}` });
    clients.push(client);
  }
  return clients;
}

const candidate = (number: number) => ({ candidate: `candidate:${number} 1 udp 1 127.0.0.1 ${5_000 + number} typ host`, sdpMid: "0" });
const sendCandidates = (from: JsonClient, to: JsonClient, count: number): void => {
  for (let number = 1; number <= count; number++) from.send({ type: "candidate", to: to.id, candidate: candidate(number) });
};
/** The numbers of the candidates that came, in their order. */
const candidatesAt = (client: JsonClient): readonly number[] =>
  client.all("candidate").map((message) => Number(/:(\d+) /.exec((message.candidate as { candidate: string }).candidate)?.[1]));

const turnClient = (service: WebrtcUnderTest): Promise<TurnClientUnderTest> =>
  TurnClientUnderTest.connect({ port: Number(/turn:127\.0\.0\.1:(\d+)/.exec(service.urlOf("TURN"))?.[1]), tlsPort: 0 });

describe("faults on demand", () => {
  it("[WEBRTC-460] begin and end by the page and over HTTP, for a time or until they are released; of the same kind the newer one counts", async () => {
    const service = await startWebrtc();
    const [ada, bob] = (await inOneRoom(service, 2)) as [JsonClient, JsonClient];
    expect(await until(() => faultsOf(service))).toEqual({ peers: [], relays: [], turn: [] });
    const started = { started: true };
    expect(await service.act("peer.fault", { peer: ada.id, fault: { kind: "drop", percent: 5 } })).toEqual(started);
    expect(await service.act("peer.fault", { peer: ada.id, fault: { kind: "drop", percent: 7, signals: "candidates" } })).toEqual(started);
    expect(await service.act("turn.fault", { fault: { kind: "refuse", code: 486 }, forMs: 60_000 })).toEqual(started);
    await until(() => faultsOf(service).turn.length === 1);
    expect(faultsOf(service)).toEqual({
      peers: [{ peer: ada.id, faults: [{ fault: { kind: "drop", percent: 7, signals: "candidates" } }] }],
      relays: [],
      turn: [{ fault: { kind: "refuse", code: 486 }, until: expect.any(Number) }],
    });
    expect(await service.act("peer.fault", { peer: "nobody", fault: { kind: "credentials" } })).toEqual({ started: false });
    expect(await service.act("relay.fault", { allocation: 999, fault: { kind: "cut" } })).toEqual({ started: false });
    expect(await service.act("peer.release", { peer: ada.id, kind: "delay" })).toEqual({ released: false });
    expect(await service.act("peer.release", { peer: ada.id })).toEqual({ released: true });
    expect(await service.act("turn.release", {})).toEqual({ released: true });
    await until(() => faultsOf(service).peers.length === 0 && faultsOf(service).turn.length === 0);
    expect(await service.act("turn.fault", { fault: { kind: "credentials" }, forMs: 20 })).toEqual(started);
    // The view may never have shown it.
    await until(async () => ((await overHttp(service, "GET", "/faults")).body as { turn: unknown[] }).turn.length === 0);

    expect(await overHttp(service, "POST", `/faults/peers/${bob.id}?kind=delay&delayMs=20&forMs=60000`)).toEqual({
      status: 200,
      body: { status: "ok" },
    });
    expect((await overHttp(service, "POST", "/faults/turn?kind=refuse&code=508")).status).toBe(200);
    expect((await overHttp(service, "GET", "/faults")).body).toEqual({
      peers: [{ peer: bob.id, faults: [{ kind: "delay", delayMs: 20, signals: "all", until: expect.stringMatching(/Z$/) }] }],
      relays: [],
      turn: [{ kind: "refuse", code: 508 }],
    });
    for (const [method, path, status] of [
      ["POST", "/faults/turn?kind=refuse&code=200", 400],
      ["POST", "/faults/turn", 400],
      ["POST", `/faults/peers/${ada.id}?kind=drop&percent=101`, 400],
      ["POST", `/faults/peers/${ada.id}?kind=cut`, 400],
      ["POST", "/faults/peers/nobody?kind=drop&percent=5", 404],
      ["POST", "/faults/relays/999?kind=cut", 404],
      ["POST", "/faults/relays/127.0.0.1:9?kind=cut", 404],
      ["DELETE", "/faults/turn?kind=credentials", 404],
      ["DELETE", "/faults/turn?kind=dance", 400],
      ["DELETE", "/faults/turn?kind=refuse", 200],
      ["DELETE", `/faults/peers/${bob.id}`, 200],
    ] as const)
      expect([path, (await overHttp(service, method, path)).status]).toEqual([path, status]);
    const told = (await overHttp(service, "POST", "/faults/turn?kind=dance")).body;
    expect(JSON.stringify(told)).toMatch(/"kind: (?:[a-z-]+, )*[a-z-]+ or [a-z-]+ is needed"/);
    const foreign = { Origin: "https://app.example.com" };
    expect((await overHttp(service, "POST", "/faults/turn?kind=credentials", foreign)).status).toBe(403);
    expect((await overHttp(service, "DELETE", "/faults")).status).toBe(200);
    expect((await overHttp(service, "GET", "/faults")).body).toEqual({ peers: [], relays: [], turn: [] });
  });

  it("[WEBRTC-461] signals from and to a peer are dropped, all of them or only candidates; those of others and chat arrive", async () => {
    const service = await startWebrtc();
    const [ada, bob, cora] = (await inOneRoom(service, 3)) as [JsonClient, JsonClient, JsonClient];
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "drop", percent: 100, signals: "candidates" } });
    sendCandidates(ada, bob, 3);
    ada.send({ type: "offer", to: bob.id, sdp: "v=0" });
    expect(await bob.next("offer")).toMatchObject({ from: ada.id, sdp: "v=0" });
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "drop", percent: 100 } });
    bob.send({ type: "answer", to: ada.id, sdp: "v=0" });
    bob.send({ type: "chat", room: "test", text: "do you get nothing?" });
    sendCandidates(bob, cora, 2);
    await ada.next("chat");
    await until(() => candidatesAt(cora).length === 2);
    expect([candidatesAt(bob), ada.all("answer")]).toEqual([[], []]);
    await service.act("peer.release", { peer: ada.id });
    bob.send({ type: "answer", to: ada.id, sdp: "v=0" });
    await ada.next("answer");
  });

  it("[WEBRTC-468] a signal that a fault drops is recorded and listed as dropped, one that it changes with what was done to it", async () => {
    const service = await startWebrtc();
    const [ada, bob, cid] = (await inOneRoom(service, 3)) as [JsonClient, JsonClient, JsonClient];
    const outcomes = async () =>
      ((await service.act("signals.list", { room: "test", limit: 100 })) as LadderAnswer).signals
        .filter(({ kind }) => kind === "candidate")
        .map(({ outcome, isLost = false }) => [outcome, isLost]);
    await service.act("peer.fault", { peer: bob.id, fault: { kind: "drop", percent: 100 } });
    sendCandidates(ada, bob, 1);
    sendCandidates(ada, cid, 1);
    await ada.settled();
    await service.act("peer.release", { peer: bob.id });
    await service.act("peer.fault", { peer: bob.id, fault: { kind: "duplicate", percent: 100 } });
    sendCandidates(ada, bob, 1);
    await ada.settled();
    expect(await outcomes()).toEqual([
      ["dropped by a fault", true],
      ["delivered", false],
      ["delivered twice", false],
    ]);
    expect(candidatesAt(bob)).toEqual([1, 1]);
    expect(await service.ended(({ outcome }) => outcome === "dropped by a fault")).toMatchObject({
      kind: "webrtc-signal",
      tone: "aborted",
      reason: "A fault on demand dropped it: nobody got it.",
    });
  });

  it("[WEBRTC-462] delayed signals keep their order, and arrive at once when the fault is released", async () => {
    const service = await startWebrtc();
    const [ada, bob] = (await inOneRoom(service, 2)) as [JsonClient, JsonClient];
    await service.act("peer.fault", { peer: bob.id, fault: { kind: "delay", delayMs: 60_000 } });
    sendCandidates(ada, bob, 4);
    ada.send({ type: "chat", room: "test", text: "at once" });
    await bob.next("chat");
    expect(candidatesAt(bob)).toEqual([]);
    await service.act("peer.release", { peer: bob.id });
    await until(() => candidatesAt(bob).length === 4);
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "delay", delayMs: 30 } });
    sendCandidates(ada, bob, 4);
    await until(() => candidatesAt(bob).length === 8);
    expect(candidatesAt(bob)).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  it("[WEBRTC-463] signals arrive twice, or after the one that follows; one that nothing follows arrives in the end", async () => {
    const service = await startWebrtc();
    const [ada, bob] = (await inOneRoom(service, 2)) as [JsonClient, JsonClient];
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "duplicate", percent: 100 } });
    sendCandidates(ada, bob, 2);
    await until(() => candidatesAt(bob).length === 4);
    await service.act("peer.release", { peer: ada.id });
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "reorder", percent: 100 } });
    sendCandidates(ada, bob, 5);
    await until(() => candidatesAt(bob).length === 9);
    expect(candidatesAt(bob)).toEqual([1, 1, 2, 2, 2, 1, 4, 3, 5]);
  });

  it("[WEBRTC-464] with a seed the same signals are chosen each time; what is held back is bounded", () => {
    const faults = new FaultRegistry<string, PeerFault>();
    onEnd(() => faults.stopAll());
    const turns = new WorkTurns();
    onEnd(() => turns.close());
    const signals = new SignalFaults({ faults, mostHeldBytes: 20_000, work: turns.connection("") });
    onEnd(() => signals.stop());
    const signal: PassingSignal = { from: "ada", to: "bob", kind: "offer", bytes: () => 500 };
    const chosen = () => {
      faults.start("ada", { fault: { kind: "drop", percent: 40, signals: "all" }, seed: "a" });
      return Array.from(
        { length: 50 },
        () =>
          signals.pass(
            signal,
            () => {},
            () => {},
          ).length,
      );
    };
    const first = chosen();
    expect(new Set(first)).toEqual(new Set([0, 1]));
    expect(chosen()).toEqual(first);
    faults.stop("ada");
    faults.start("bob", { fault: { kind: "delay", delayMs: 60_000, signals: "all" } });
    const effects = Array.from({ length: 12 }, () =>
      signals
        .pass(
          signal,
          () => {},
          () => {},
        )
        .join(),
    );
    expect(effects).toEqual([...Array(10).fill("delayed"), "dropped", "dropped"]);
  });

  it("[WEBRTC-537] what was held back of many is delivered in turns, in its order, and not that of others whose fault goes on", async () => {
    const faults = new FaultRegistry<string, PeerFault>();
    onEnd(() => faults.stopAll());
    const { turns, pass } = workTime();
    onEnd(() => turns.close());
    const signals = new SignalFaults({ faults, mostHeldBytes: 16 << 20, work: turns.connection("") });
    onEnd(() => signals.stop());
    const arrived: string[] = [];
    const arrive = (from: string, to: string, number: number) =>
      signals.pass(
        { from, to, kind: "offer", bytes: () => 500 },
        () => {
          arrived.push(`${from} ${to} ${number}`);
          pass();
        },
        () => {},
      );
    const delay = { fault: { kind: "delay", delayMs: 60_000, signals: "all" } } as const;
    for (const peer of ["ada", "eve"]) faults.start(peer, delay);
    const others = Array.from({ length: 500 }, (_, index) => `peer ${index}`);
    for (const number of [1, 2, 3, 4]) for (const other of others) arrive("ada", other, number);
    arrive("eve", "bob", 1);
    expect(arrived).toEqual([]);
    faults.stop("ada");
    signals.refresh(["ada"]);
    expect(arrived.length).toBeLessThanOrEqual(itemsOfTurn);
    // One that comes meanwhile comes behind those that waited.
    arrive("ada", "peer 499", 5);
    while (arrived.length < 4 * others.length + 1) {
      const before = arrived.length;
      await nextTurn();
      expect(arrived.length - before).toBeLessThanOrEqual(2 * itemsOfTurn);
    }
    for (const other of others)
      expect(arrived.filter((one) => one.startsWith(`ada ${other} `)).map((one) => Number(one.split(" ").at(-1)))).toEqual(
        other === "peer 499" ? [1, 2, 3, 4, 5] : [1, 2, 3, 4],
      );
    signals.forget("bob");
    faults.stop("eve");
    signals.refresh(["eve"]);
    expect(signals.isClear).toBe(true);
  });

  it("[WEBRTC-465] allocations are refused with a chosen code, and credentials are wrong from now on: for one peer or for all", async () => {
    const service = await startWebrtc();
    const [ada, bob] = (await inOneRoom(service, 2)) as [JsonClient, JsonClient];
    const allocateOf = async ({ iceServers }: JsonClient) => {
      const { username = "", credential: password = "" } = iceServers.find((server) => server.username !== undefined) ?? {};
      return errorOf(await (await turnClient(service)).allocate([], { credentials: { username, password } }));
    };
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "refuse", code: 486 } });
    expect([await allocateOf(ada), await allocateOf(bob)]).toEqual([486, 0]);
    await service.act("turn.fault", { fault: { kind: "refuse", code: 508 } });
    expect([await allocateOf(ada), await allocateOf(bob)]).toEqual([486, 508]);
    await service.act("turn.release", {});
    await service.act("peer.release", { peer: ada.id });
    await service.act("peer.fault", { peer: bob.id, fault: { kind: "credentials" } });
    expect([await allocateOf(ada), await allocateOf(bob)]).toEqual([0, 401]);
    expect((await overHttp(service, "POST", "/faults/turn?kind=credentials")).status).toBe(200);
    expect(await allocateOf(ada)).toBe(401);
    expect((await overHttp(service, "DELETE", "/faults")).status).toBe(200);
    expect([await allocateOf(ada), await allocateOf(bob)]).toEqual([0, 0]);
  });

  it("[WEBRTC-466] one relay is cut, loses data or is slow; others go on, and the faults end with it", async () => {
    const service = await startWebrtc({ turnUsers: [`${user.username}:${user.password}`] });
    const [client, other] = [await turnClient(service), await turnClient(service)];
    const relayed = await client.relayedPort();
    await other.relayedPort();
    const [peer, otherPeer] = [await Peer.open(), await Peer.open()];
    for (const one of [client, other]) expect(errorOf(await one.permit("127.0.0.1"))).toBe(0);
    const through = (text: string) => client.indicate("127.0.0.1", peer.port, Buffer.from(text));
    const lost = () => service.views.get("allocations")?.allocations.find(({ id }) => id === allocation)?.lost.impaired ?? 0;
    expect((await overHttp(service, "POST", `/faults/relays/127.0.0.1:${relayed}?kind=cut`)).status).toBe(200);
    const { allocation } = await until(() => faultsOf(service).relays[0]);
    expect(faultsOf(service).relays).toEqual([{ allocation, faults: [{ fault: { kind: "cut" } }] }]);
    through("cut");
    other.indicate("127.0.0.1", otherPeer.port, Buffer.from("goes on"));
    expect(await otherPeer.next()).toEqual(["goes on"]);
    await until(() => lost() === 1);
    expect(await service.act("relay.release", { allocation })).toEqual({ released: true });
    through("again");
    expect(await peer.next()).toEqual(["again"]);
    await service.act("relay.fault", { allocation, fault: { kind: "loss", percent: 100 } });
    peer.socket.send("lost", relayed, "127.0.0.1");
    await until(() => lost() === 2);
    await service.act("relay.release", { allocation });
    await service.act("relay.fault", { allocation, fault: { kind: "delay", delayMs: 50 } });
    peer.socket.send("late", relayed, "127.0.0.1");
    await until(() => client.received().length === 1);
    expect(client.received().map(({ data }) => data)).toEqual(["late"]);
    expect(errorOf(await client.refresh(0))).toBe(0);
    await until(() => faultsOf(service).relays.length === 0);
    expect(await service.act("relay.fault", { allocation, fault: { kind: "cut" } })).toEqual({ started: false });
  });

  it("[WEBRTC-467] the faults of a peer end with it, and what was held back of it never arrives", async () => {
    const service = await startWebrtc();
    const [ada, bob] = (await inOneRoom(service, 2)) as [JsonClient, JsonClient];
    await service.act("peer.fault", { peer: ada.id, fault: { kind: "delay", delayMs: 2_000 } });
    sendCandidates(ada, bob, 2);
    await ada.settled();
    ada.socket.terminate();
    await bob.next("peer-left");
    await until(() => faultsOf(service).peers.length === 0);
    const cora = await service.connect();
    await cora.join("test");
    cora.send({ type: "candidate", to: bob.id, candidate: candidate(9) });
    await until(() => candidatesAt(bob).length === 1);
    await unchanged(() => candidatesAt(bob).length, 2_200);
    expect(candidatesAt(bob)).toEqual([9]);
  });

  it("[WEBRTC-561] a signal that a fault holds back is open until it arrives; one whose sender or receiver leaves before is lost", async () => {
    const service = await startWebrtc();
    const [ada, bob, cid] = (await inOneRoom(service, 3)) as [JsonClient, JsonClient, JsonClient];
    const signals = async () =>
      ((await service.act("signals.list", { room: "test", limit: 100 })) as LadderAnswer).signals
        .filter(({ kind }) => kind === "offer" || kind === "candidate")
        .map(({ outcome, isLost = false }) => [outcome, isLost]);
    const rowsOf = (verb: string) => service.rows().filter((row) => row.kind === "webrtc-signal" && row.verb === verb);
    const delay = { kind: "delay", delayMs: 60_000 } as const;
    await service.act("peer.fault", { peer: ada.id, fault: delay });
    ada.send({ type: "offer", to: bob.id, sdp: "v=0" });
    await until(() => rowsOf("offer")[0]?.tone === "pending");
    expect([rowsOf("offer")[0]?.outcome, await signals()]).toEqual(["delayed", [["delayed", false]]]);
    await service.act("peer.release", { peer: ada.id });
    await bob.next("offer");
    expect(await service.ended(({ verb }) => verb === "offer")).toMatchObject({
      tone: "ok",
      outcome: "delayed",
      tookMs: expect.any(Number),
    });
    await service.act("peer.fault", { peer: ada.id, fault: delay });
    sendCandidates(ada, bob, 1);
    ada.send({ type: "offer", to: cid.id, sdp: "v=0" });
    bob.send({ type: "answer", to: cid.id, sdp: "v=0" });
    await cid.next("answer");
    await until(() => rowsOf("candidate")[0]?.tone === "pending");
    bob.socket.terminate();
    expect(await service.ended(({ verb }) => verb === "candidate")).toMatchObject({
      ...{ tone: "aborted", outcome: "lost: receiver left" },
      reason: "A fault on demand held it back until its receiver had left: nobody got it.",
    });
    expect(await signals()).toEqual([
      ["delayed", false],
      ["lost: receiver left", true],
      ["delayed", false],
    ]);
    ada.socket.terminate();
    const lost = await service.ended(({ verb, tone }) => verb === "offer" && tone === "aborted");
    expect(lost).toMatchObject({ outcome: "lost: sender left" });
    expect((await signals()).at(-1)).toEqual(["lost: sender left", true]);
    expect(cid.all("offer")).toEqual([]);
    expect(service.detail(lost.id)).toMatchObject({ deliveries: 0, outcome: "lost: sender left" });
  });

  it("[WEBRTC-561] one to many says for how many it is lost", () => {
    const held = new HeldDeliveries();
    for (let left = 3; left > 0; left--) held.hold();
    const fact = { kind: "offer", room: "test", deliveries: 4, effects: ["delayed", "delayed", "delayed"], held } as const;
    expect(outcomeOf(fact).tone).toBe("pending");
    held.settle(undefined);
    held.settle("receiver left");
    expect(outcomeOf(fact)).toMatchObject({ tone: "pending", text: "delayed" });
    held.settle("sender left");
    expect(outcomeOf(fact)).toEqual({
      ...{ text: "lost for 2", tone: "aborted", isLost: false },
      reason: "A fault on demand kept it from 2 of 4, and the sender has left.",
    });
  });
});
