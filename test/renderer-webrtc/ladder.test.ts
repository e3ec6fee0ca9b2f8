import { expect, it } from "vitest";
import type { LadderSignal } from "../../contract/services/webrtc-signals.ts";
import { layOutLadder, othersLane, type Rung } from "../../renderer/src/services/webrtc/ladder/lay-out-ladder.ts";
import { roomRows } from "../../renderer/src/services/webrtc/rooms/room-rows.ts";

let row = 0;
const signal = (kind: LadderSignal["kind"], from: string, to?: string, part: Partial<LadderSignal> = {}): LadderSignal => ({
  row: ++row,
  at: row * 10,
  kind,
  dialect: "json",
  from,
  ...(to !== undefined && { to }),
  room: "r",
  outcome: "delivered",
  bytes: 100,
  summary: "",
  ...part,
});
const shape = ({ from, to, signals }: Rung) =>
  `${from}>${to.join("+")} ${signals[0]?.kind}${signals.length > 1 ? ` x${signals.length}` : ""}`;

it("[WEBRTC-404] each peer has a line in the order of its first signal, and each signal is an arrow between two; one to a room goes to all", () => {
  const signals = [
    signal("join", "a"),
    signal("join", "b"),
    signal("offer", "b", "a"),
    signal("answer", "a", "b"),
    signal("chat", "service"),
  ];
  const { lanes, rungs } = layOutLadder({ signals, mostLanes: 5, foldsCandidates: true });
  expect(lanes).toEqual([
    { id: "a", peers: 1 },
    { id: "b", peers: 1 },
    { id: "service", peers: 1 },
  ]);
  expect(rungs.map(shape)).toEqual(["0> join", "1>0 join", "1>0 offer", "0>1 answer", "2>0+1 chat"]);
  expect(rungs.map(({ afterMs }) => afterMs)).toEqual([undefined, 10, 10, 10, 10]);
});

it("[WEBRTC-405] successive candidates of one peer for another are one arrow where that is wanted; those that were lost are not", () => {
  const signals = [
    signal("candidate", "a", "b"),
    signal("candidate", "a", "b"),
    signal("candidate", "b", "a"),
    signal("candidate", "a", "b", { isLost: true, outcome: "peer-unknown" }),
    signal("candidate", "a", "b"),
  ];
  expect(layOutLadder({ signals, mostLanes: 5, foldsCandidates: true }).rungs.map(shape)).toEqual([
    "0>1 candidate x2",
    "1>0 candidate",
    "0>1 candidate",
    "0>1 candidate",
  ]);
  expect(layOutLadder({ signals, mostLanes: 5, foldsCandidates: false }).rungs).toHaveLength(5);
});

/** The identifiers of the peers are their names with a number: "ada 1". */
const namesOf = (signals: readonly LadderSignal[]) =>
  Object.fromEntries(signals.flatMap(({ from, to = from }) => [from, to]).map((id) => [id, id.split(" ")[0] ?? ""]));

it("[WEBRTC-404] where there are more peers than lines, those of one name that came after one another share one, and no others", () => {
  const calls = [1, 2, 3, 4].flatMap((time) => [
    signal("offer", `anna ${time}`, `ben ${time}`),
    signal("answer", `ben ${time}`, `anna ${time}`),
    ...(time === 2 ? [signal("offer", "ada 1", "bob 1"), signal("answer", "bob 1", "ada 1")] : []),
  ]);
  const { lanes, rungs } = layOutLadder({ signals: calls, mostLanes: 5, foldsCandidates: true, names: namesOf(calls) });
  expect(lanes).toEqual([
    { id: "ada 1", peers: 1 },
    { id: "bob 1", peers: 1 },
    { id: "anna 4", peers: 4 },
    { id: "ben 4", peers: 4 },
  ]);
  expect(rungs.map(shape)).toEqual([
    ...["2>3 offer", "3>2 answer", "2>3 offer", "3>2 answer"],
    ...["0>1 offer", "1>0 answer"],
    ...["2>3 offer", "3>2 answer", "2>3 offer", "3>2 answer"],
  ]);
  const later = [
    signal("offer", "anna 1", "ben 1"),
    signal("chat", "ben 1", "nobody"),
    signal("offer", "a", "b"),
    signal("answer", "b", "a"),
  ];
  const apart = layOutLadder({ signals: later, mostLanes: 4, foldsCandidates: true, names: namesOf(later) });
  expect(apart.lanes).toEqual([
    { id: "ben 1", peers: 1 },
    { id: "a", peers: 1 },
    { id: "b", peers: 1 },
    { id: othersLane, peers: 2 },
  ]);
});

it("[WEBRTC-404] of a crowd those that signal now have their own lines and keep them, and the others share the last one", () => {
  const crowd = Array.from({ length: 50 }, (_, place) => signal("offer", `p${place}`, "room"));
  const all = [...crowd, ...crowd.map((one) => ({ ...one, row: one.row + 100 }))];
  const { lanes, rungs } = layOutLadder({ signals: all, mostLanes: 4, foldsCandidates: true });
  expect(lanes.map(({ id }) => id)).toEqual(["room", "p48", "p49", othersLane]);
  expect(lanes.at(-1)?.peers).toBe(48);
  expect(rungs.every(({ from, to }) => from < 4 && to.every((place) => place < 4))).toBe(true);
  const next = [...all.slice(1), { ...signal("offer", "p3", "room") }];
  const kept = layOutLadder({ signals: next, mostLanes: 4, foldsCandidates: true, before: lanes.map(({ id }) => id) });
  expect(kept.lanes.map(({ id }) => id)).toEqual(["room", "p48", "p49", othersLane]);
  const later = [...all, ...Array.from({ length: 60 }, (_, place) => signal(place % 2 === 0 ? "offer" : "answer", "p1", "p2"))];
  const moved = layOutLadder({ signals: later, mostLanes: 3, foldsCandidates: true, before: lanes.map(({ id }) => id) });
  expect(moved.lanes.map(({ id }) => id)).toEqual(["p1", "p2", othersLane]);
});

it("[WEBRTC-404] a message to a room goes to those who are in it, and not to a peer whose connection has ended", () => {
  const signals = [
    signal("join", "a"),
    signal("join", "b"),
    signal("leave", "a", undefined, { isEnd: true, outcome: "the client left" }),
    signal("chat", "c"),
  ];
  expect(layOutLadder({ signals, mostLanes: 5, foldsCandidates: true }).rungs.map(shape)).toEqual([
    "0> join",
    "1>0 join",
    "0>1 leave",
    "2>1 chat",
  ]);
});

it("[WEBRTC-430] rooms are listed with their members, whose number is known where they are not named, and peers without a room come last", () => {
  const peer = (id: string, rooms: readonly string[]) => ({
    id,
    row: 1,
    name: id.toUpperCase(),
    dialect: "json" as const,
    remote: "127.0.0.1:1",
    isSecure: false,
    since: 0,
    rooms,
    received: 0,
    sent: 0,
    unsentBytes: 0,
  });
  const room = {
    name: "demo",
    since: 0,
    hasPassword: false,
    peers: ["a", "b", "gone"],
    peerCount: 60,
    elsewhereCount: 7,
    chatMessages: 0,
    chatKept: 0,
  };
  const views = [
    { rooms: [room], more: 0 },
    { peers: [peer("a", ["demo"]), peer("b", ["demo"]), peer("c", [])], more: 0 },
  ] as const;
  const ids = (text: string) => roomRows(...views, text).map(({ id }) => id.trim());
  expect(ids("")).toEqual(["room demo", "peer a demo", "peer b demo", "more demo", "elsewhere demo", "none", "peer c"]);
  expect(ids("B")).toEqual(["room demo", "peer b demo"]);
  const crowd = Array.from({ length: 30 }, (_, place) => peer(`p${place}`, ["large"]));
  const large = { ...room, name: "large", peers: crowd.map(({ id }) => id), peerCount: 30, elsewhereCount: 0 };
  const kinds = (text: string, unfolded?: ReadonlySet<string>) =>
    roomRows({ rooms: [large], more: 0 }, { peers: crowd, more: 0 }, text, unfolded).map(({ kind }) => kind);
  expect(kinds("")).toEqual(["room", ...Array.from({ length: 12 }, () => "peer"), "folded"]);
  expect([kinds("large").length, kinds("", new Set(["large"])).length]).toEqual([31, 31]);
  expect(ids("nobody")).toEqual([]);
});
