import { io } from "socket.io-client";
import { describe, expect, it } from "vitest";
import { createEventLog } from "../support/event-log.ts";
import { onEnd } from "../support/start-service.ts";
import { connectWire, joinJson, type Message, openPeerJs, startWebrtc, type Webrtc } from "./dialect-harness.ts";

const room = "r1";
const offer = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n";
const answer = "v=0\r\nanswer\r\n";
const candidate = { candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", sdpMid: "0", sdpMLineIndex: 0 };

/** A client of a dialect as the others see it. Its signals are `[kind, from, sdp or candidate]`. */
interface Party {
  readonly id: string;
  signal(kind: "offer" | "answer" | "candidate", to: string): void;
  received(): Promise<readonly unknown[]>;
}

const textOf = (kind: string) => (kind === "offer" ? offer : answer);

async function jsonParty(webrtc: Webrtc): Promise<Party> {
  const client = await joinJson(webrtc, room);
  const signals = () =>
    client.log.items.flatMap(({ type, from, sdp, candidate: found }) =>
      type === "candidate" ? [[type, from, found]] : type === "offer" || type === "answer" ? [[type, from, sdp]] : [],
    );
  return {
    id: client.id,
    signal: (kind, to) => client.send(kind === "candidate" ? { type: kind, to, candidate } : { type: kind, to, sdp: textOf(kind) }),
    async received() {
      await expect.poll(() => signals().length).toBeGreaterThan(0);
      return signals();
    },
  };
}

async function peerJsParty(webrtc: Webrtc): Promise<Party> {
  const client = await openPeerJs(webrtc, "pj", { key: room });
  const signals = () =>
    client.log.items.flatMap(({ type, src, payload }) => {
      const { sdp, candidate: found } = (payload ?? {}) as { sdp?: { type: string; sdp: string }; candidate?: unknown };
      return type === "CANDIDATE" ? [["candidate", src, found]] : sdp ? [[sdp.type, src, sdp.sdp]] : [];
    });
  const connectionId = "mc_1";
  return {
    id: "pj",
    signal(kind, to) {
      const content = kind === "candidate" ? { candidate } : { sdp: { type: kind, sdp: textOf(kind) } };
      client.send({ type: kind.toUpperCase(), dst: to, payload: { ...content, type: "media", connectionId } });
    },
    async received() {
      await expect.poll(() => signals().length).toBeGreaterThan(0);
      return signals();
    },
  };
}

async function socketIoParty({ host }: Webrtc): Promise<Party> {
  const socket = io(`http://${host}`, { forceNew: true, reconnection: false, transports: ["websocket"], auth: { room } });
  onEnd(() => socket.disconnect());
  const log = createEventLog<{ event: string; data: Message }>();
  socket.onAny((event, data) => log.add({ event, data }));
  await log.until(({ event }) => event === "joined");
  const signals = () =>
    log.items.flatMap(({ event, data }) => {
      const sdp = data.sdp as { type: string; sdp: string } | undefined;
      return event !== "signal" ? [] : sdp ? [[sdp.type, data.from, sdp.sdp]] : [["candidate", data.from, data.candidate]];
    });
  return {
    id: socket.id ?? "",
    signal: (kind, to) =>
      void socket.emit("signal", kind === "candidate" ? { candidate, to } : { sdp: { type: kind, sdp: textOf(kind) }, to }),
    async received() {
      await expect.poll(() => signals().length).toBeGreaterThan(0);
      return signals();
    },
  };
}

const ownYId = "y-client";

async function yWebrtcParty(webrtc: Webrtc): Promise<Party> {
  const client = await connectWire(webrtc, "/y-webrtc");
  client.send({ type: "subscribe", topics: [room] });
  client.send({ type: "publish", topic: room, data: { type: "announce", from: ownYId } });
  await client.log.until(({ data }) => (data as { from?: string } | undefined)?.from === ownYId);
  const watcher = await joinJson(webrtc, room);
  const { peers } = await watcher.until("joined");
  const members = peers as { id: string }[];
  const signals = () =>
    client.log.items.flatMap(({ data }) => {
      const { type, from, to, signal } = (data ?? {}) as { type?: string; from?: string; to?: string; signal?: Message };
      if (type !== "signal" || from === ownYId || to !== ownYId || !signal) return [];
      return signal.type === "candidate" ? [["candidate", from, signal.candidate]] : [[signal.type, from, signal.sdp]];
    });
  return {
    id: members.at(-1)?.id ?? "",
    signal(kind, to) {
      const signal = kind === "candidate" ? { type: kind, candidate } : { type: kind, sdp: textOf(kind) };
      client.send({ type: "publish", topic: room, data: { type: "signal", from: ownYId, to, token: 1, signal } });
    },
    async received() {
      await expect.poll(() => signals().length).toBeGreaterThan(0);
      return signals();
    },
  };
}

const parties = { "plain JSON": jsonParty, PeerJS: peerJsParty, "Socket.IO": socketIoParty, "y-webrtc": yWebrtcParty };
type Dialect = keyof typeof parties;
const dialects = Object.keys(parties) as Dialect[];
const pairs = dialects.flatMap((one) => dialects.flatMap((other) => (one === other ? [] : [[one, other] as const])));

describe("across dialects", () => {
  it.each(pairs)("[WEBRTC-250] a call of %s to %s: offer, answer and candidates", async (one, other) => {
    const webrtc = await startWebrtc();
    const caller = await parties[one](webrtc);
    const called = await parties[other](webrtc);
    caller.signal("offer", called.id);
    expect(await called.received()).toEqual([["offer", caller.id, offer]]);
    called.signal("answer", caller.id);
    expect(await caller.received()).toEqual([["answer", called.id, answer]]);
    caller.signal("candidate", called.id);
    await expect
      .poll(() => called.received())
      .toEqual([
        ["offer", caller.id, offer],
        ["candidate", caller.id, candidate],
      ]);
    called.signal("candidate", caller.id);
    await expect
      .poll(() => caller.received())
      .toEqual([
        ["answer", called.id, answer],
        ["candidate", called.id, candidate],
      ]);
  });

  it("[WEBRTC-251] the clients of a room see those of the other dialects come and go, and chat where their dialect has it", async () => {
    const webrtc = await startWebrtc();
    const json = await joinJson(webrtc, room, { name: "Anna" });
    const peerJs = await openPeerJs(webrtc, "pj", { key: room });
    await json.log.until(({ type, id }) => type === "peer-joined" && id === "pj");
    const yWebrtc = await connectWire(webrtc, "/y-webrtc");
    yWebrtc.send({ type: "subscribe", topics: [room] });
    const announced = (id: string) => yWebrtc.log.until(({ data }) => (data as { from?: string } | undefined)?.from === id);
    expect(await announced(json.id)).toEqual({ type: "publish", topic: room, data: { type: "announce", from: json.id }, clients: 1 });
    await announced("pj");
    const socket = io(`http://${webrtc.host}`, { forceNew: true, reconnection: false, transports: ["websocket"], auth: { room } });
    onEnd(() => socket.disconnect());
    const log = createEventLog<{ event: string; data: Message }>();
    socket.onAny((event, data) => log.add({ event, data }));
    const { data } = await log.until(({ event }) => event === "joined");
    expect((data.peers as { id: string }[]).map(({ id }) => id)).toEqual(expect.arrayContaining([json.id, "pj"]));
    await announced(socket.id ?? "");
    json.send({ type: "chat", room, text: "hello" });
    expect((await log.until(({ event }) => event === "chat")).data).toMatchObject({ text: "hello", name: "Anna", from: json.id });
    socket.emit("chat", { text: "and back" });
    expect(await json.until("chat")).toMatchObject({ text: "and back", from: socket.id });
    peerJs.close();
    await log.until(({ event, data: left }) => event === "peer-left" && left.id === "pj");
    await json.log.until(({ type, id }) => type === "peer-left" && id === "pj");
  });

  it.each(["\n", "\u001b[31m", "\u0085", "\u2028", "\0"])(
    "[WEBRTC-532] a name with control characters, or of several lines, is refused in every dialect: %j",
    async (bad) => {
      const webrtc = await startWebrtc();
      const name = `a${bad}b`;
      const json = await connectWire(webrtc, "/ws");
      for (const join of [{ room: name }, { room, name }]) {
        json.send({ type: "join", ...join });
        expect(await json.log.next(({ type }) => type === "error")).toMatchObject({ code: "bad-name", re: "join" });
      }
      const y = await connectWire(webrtc, "/y-webrtc");
      y.send({ type: "subscribe", topics: [name] });
      y.send({ type: "ping" });
      expect(await y.until("error")).toMatchObject({ code: "bad-name", re: "subscribe" });
      const peerJs = async (id: string, key: string) => {
        const client = await connectWire(webrtc, `/peerjs?${new URLSearchParams({ id, key, token: "t" })}`);
        return (await client.log.until(() => true)).type;
      };
      expect(await peerJs(name, "peerjs")).toBe("ERROR");
      expect(await peerJs("pj", name)).toBe("INVALID-KEY");
      const socket = io(`http://${webrtc.host}`, { forceNew: true, reconnection: false, transports: ["websocket"] });
      onEnd(() => socket.disconnect());
      for (const join of [{ room: name }, { room, name }])
        expect(await socket.emitWithAck("join", join)).toMatchObject({ error: { code: "bad-name" } });
      expect(webrtc.service.views.get("rooms")?.rooms.map((one) => one.name) ?? []).not.toContain(name);
      const nameOfJoiners = "\u{1f469}\u200d\u{1f680} \u05d0\u200f";
      json.send({ type: "join", room: nameOfJoiners, name: nameOfJoiners });
      expect(await json.until("joined")).toEqual({ type: "joined", room: nameOfJoiners, peers: [] });
    },
  );
});
