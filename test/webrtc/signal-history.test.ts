import { expect, it } from "vitest";
import { type PassedSignal, SignalHistory } from "../../servers/webrtc/ice-check/signal-history.ts";
import { Room } from "../../servers/webrtc/signalling/room.ts";
import { answer, offer, relayLine } from "../renderer-webrtc/samples.ts";

const names: Record<string, string> = { a: "Ada", b: "Bob", c: "Cid" };
let row = 0;
const passed = (
  kind: PassedSignal["kind"],
  from: string,
  to: string | undefined,
  message: object,
  part: Partial<PassedSignal> = {},
): PassedSignal => ({
  row: ++row,
  at: row,
  kind,
  dialect: "json",
  from,
  ...(to !== undefined && { to }),
  room: "r",
  outcome: "delivered",
  bytes: 10,
  message: JSON.stringify(message),
  ...part,
});

it("[WEBRTC-406] signals are listed by room and by pair with what they carry and the names of their peers, the newest of them", () => {
  const history = new SignalHistory({ signals: 100, bytes: 1 << 20 }, (peer) => names[peer]);
  history.add(passed("join", "a", undefined, { type: "join" }, { outcome: "joined" }));
  history.add(passed("offer", "a", "b", { sdp: offer }));
  history.add(passed("answer", "b", "a", { sdp: answer }));
  history.add(passed("candidate", "b", "a", { candidate: { candidate: relayLine } }));
  history.add(passed("chat", "c", undefined, { type: "chat", text: "hello" }, { room: "other" }));
  const list = (query: Partial<Parameters<SignalHistory["list"]>[0]>) => history.list({ limit: 100, ...query });
  expect(list({}).signals.map(({ summary }) => summary)).toEqual([
    "r",
    "video, data · 1 candidate",
    "video, data",
    "relay udp 127.0.0.1:50112",
    "hello",
  ]);
  expect(list({ room: "other" }).signals.map(({ kind }) => kind)).toEqual(["chat"]);
  expect(list({ peers: ["b", "a"] }).signals.map(({ kind }) => kind)).toEqual(["join", "offer", "answer", "candidate"]);
  expect(list({ peers: ["c"] }).names).toEqual({ c: "Cid" });
  expect(list({ limit: 2 })).toMatchObject({ more: 3, signals: [{ kind: "candidate" }, { kind: "chat" }] });
  // A name outlives its peer.
  delete names.b;
  expect(list({ peers: ["a", "b"] }).names).toEqual({ a: "Ada", b: "Bob" });
  expect(history.between("b", "a").map(({ type }) => type)).toEqual(["answer", "candidate"]);
});

it("[WEBRTC-607] of the peers in signals those that have left are named, and those whose name another one has or had", () => {
  const here: Record<string, string> = { a1: "Ann", b1: "Bob", c: "Cid", n: "" };
  const history = new SignalHistory({ signals: 100, bytes: 1 << 20 }, (peer) => here[peer]);
  const join = (peer: string) => history.add(passed("join", peer, undefined, { type: "join" }, { outcome: "joined" }));
  for (const peer of ["a1", "b1", "c", "n"]) join(peer);
  history.add(passed("chat", "service", undefined, { type: "chat", text: "x" }));
  history.add(passed("offer", "a1", "nobody", { sdp: offer }, { isLost: true, outcome: "peer-unknown" }));
  expect(history.list({ limit: 100 })).toMatchObject({ left: [], namesakes: [] });
  delete here.a1;
  delete here.n;
  here.a2 = "Ann";
  join("a2");
  expect(history.list({ limit: 100 })).toMatchObject({ left: expect.arrayContaining(["a1", "n"]), namesakes: ["a2", "a1"] });
  // Also where the other one is not in the answer.
  expect(history.list({ limit: 100, peers: ["a2"] })).toMatchObject({ left: [], namesakes: ["a2"] });
  const { version } = history;
  delete here.c;
  history.noteEnd(99, { id: "c", dialect: "json", rooms: [], facts: { userAgent: "" } }, "client left", 99);
  expect(history.version).toBeGreaterThan(version);
  expect(history.list({ limit: 100 }).left).toContain("c");
});

it("[WEBRTC-407] of a description the one before it and the one of the other side are found", () => {
  const history = new SignalHistory({ signals: 100, bytes: 1 << 20 }, () => undefined);
  const add = (kind: "offer" | "answer", from: string, to: string) => {
    const signal = passed(kind, from, to, { sdp: kind === "offer" ? offer : answer });
    history.add(signal);
    return signal.row;
  };
  const first = add("offer", "a", "b");
  const reply = add("answer", "b", "a");
  add("offer", "a", "c");
  const second = add("offer", "a", "b");
  expect(history.related(first)).toEqual({ counterpart: reply });
  expect(history.related(reply)).toEqual({ counterpart: first });
  expect(history.related(second)).toEqual({ previous: first });
  expect(history.related(9_999)).toEqual({});
});

it("[WEBRTC-408] the history is bounded in number and bytes", () => {
  const history = new SignalHistory({ signals: 50, bytes: 40_000 }, () => undefined);
  for (let times = 0; times < 5_000; times++) history.add(passed("candidate", "a", "b", { candidate: relayLine }));
  expect(history.total).toBe(5_000);
  expect(history.list({ limit: 2_000 }).signals).toHaveLength(50);
  for (let times = 0; times < 100; times++) history.add(passed("offer", "a", "b", { sdp: `${offer}${"a=x\r\n".repeat(1_000)}` }));
  expect(history.list({ limit: 2_000 }).signals.length).toBeLessThan(10);
  expect(history.list({ limit: 2_000 }).signals.length).toBeGreaterThan(0);
});

it("[WEBRTC-408] of each signal a bounded part is kept, and all of it counts", () => {
  const long = "x".repeat(100_000);
  const history = new SignalHistory({ signals: 10_000, bytes: 40_000 }, () => undefined);
  const candidate = { candidate: relayLine, sdpMid: long };
  history.add(passed("candidate", "a", long, { candidate }, { room: long }));
  history.add(passed("chat", "a", undefined, { type: "chat", text: long }));
  history.add(passed("offer", "a", "b", { sdp: `v=0\r\n${Array.from({ length: 2_000 }, (_, kind) => `m=${kind} 9 UDP 0\r\n`).join("")}` }));
  const longest = (signals: readonly object[]) =>
    Math.max(...signals.flatMap((signal) => Object.values(signal).map((value) => String(value).length)));
  expect(longest(history.list({ limit: 10 }).signals)).toBeLessThanOrEqual(500);
  expect(longest(history.between("a", "b").filter(({ type }) => type === "candidate"))).toBeLessThanOrEqual(500);
  for (let times = 0; times < 1_000; times++)
    history.add(passed("candidate", "a", `${times}${"x".repeat(200)}`, { candidate: null }, { room: "y".repeat(200) }));
  expect(history.list({ limit: 1_000 }).signals.length).toBeLessThan(40_000 / 800);
});

it("[WEBRTC-406] the end of a connection is listed with its reason, of a peer that is in a room", () => {
  const history = new SignalHistory({ signals: 100, bytes: 1 << 20 }, (peer) => names[peer]);
  const peer = (rooms: readonly string[]) => ({
    ...{ id: "a", dialect: "json" as const, facts: { userAgent: "" } },
    rooms: rooms.map((name) => new Room(name, undefined)),
  });
  history.noteEnd(7, peer(["r"]), "the client left", 1);
  history.noteEnd(8, peer([]), "the client left", 2);
  expect(history.list({ limit: 100 }).signals).toMatchObject([
    { row: 7, kind: "leave", from: "a", room: "r", outcome: "the client left", isEnd: true, summary: "the client left" },
  ]);
});

it("[WEBRTC-582] a list of signals with long names has the newest that fit in an answer, and counts the others", () => {
  const history = new SignalHistory({ signals: 2_000, bytes: 16 << 20 }, () => undefined);
  const long = "x".repeat(500);
  for (let index = 0; index < 2_000; index++) history.add(passed("join", "a", long, { type: "join" }, { room: long }));
  const { signals, more } = history.list({ limit: 2_000 });
  expect(JSON.stringify(signals).length).toBeLessThan(2 << 20);
  expect(signals.at(-1)?.row).toBe(row);
  expect(signals.length + more).toBe(2_000);
  expect(more).toBeGreaterThan(0);
});
