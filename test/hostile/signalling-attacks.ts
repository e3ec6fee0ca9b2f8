import { createHash } from "node:crypto";
import { type Attack, httpRequest, randomBytes, type Target, throwAt } from "./hostile-service.ts";

/** RFC 6455 §5.2: a masked frame; the mask is zero. */
function frame(content: string | Buffer, opcode = 1): Buffer {
  const bytes = Buffer.from(content as string);
  const { length } = bytes;
  const head = [0x80 | opcode, 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)];
  if (length >= 126) head.push(...[24, 16, 8, 0].slice(length < 65_536 ? 2 : 0).map((shift) => (length >>> shift) & 255));
  if (length >= 65_536) head.splice(2, 0, 0, 0, 0, 0);
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), bytes]);
}

const upgrade = (path: string): Buffer =>
  httpRequest("GET", path, {
    headers: `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${createHash("md5").update("").digest("base64")}\r\n`,
  });

/** A client that opens a WebSocket and sends all of its messages at once: texts, or objects as JSON. */
const client = (path: string, messages: readonly (string | object)[]): Buffer =>
  Buffer.concat([upgrade(path), ...messages.map((message) => frame(typeof message === "string" ? message : JSON.stringify(message)))]);

export const list = <Item>(length: number, item: (index: number) => Item): Item[] => Array.from({ length }, (_, index) => item(index));
const anyName = ({ random }: Target): string => random.below(2 ** 32).toString(36);

const description = { type: "offer", sdp: "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" };
const polling = "/socket.io/?EIO=4&transport=polling";
const overWebSocket = "/socket.io/?EIO=4&transport=websocket";

/** Clients of signalling, in all of its dialects. */
export const signallingAttacks: Readonly<Record<string, Attack>> = {
  "JSON: unknown types and broken texts": (target) =>
    throwAt(
      target,
      20,
      client(
        "/ws",
        list(500, () => [{ type: anyName(target) }, { type: "join" }, "{", "[]", '{"type":{}}'][target.random.below(5)] as object | string),
      ),
      "all",
    ),
  "JSON of 60,000 levels": (target) =>
    throwAt(
      target,
      10,
      client(
        "/ws",
        list(4, () => `{"type":"offer","to":${"[".repeat(60_000)}`),
      ),
      "all",
    ),
  "deep JSON that ends": (target) =>
    throwAt(
      target,
      10,
      client(
        "/ws",
        list(4, () => `{"type":"offer","to":"x","sdp":${"[".repeat(32_000)}${"]".repeat(32_000)}}`),
      ),
      "all",
    ),
  "messages beyond the limit": (target) => throwAt(target, 10, client("/ws", ["x".repeat(300_000)]), "all"),
  "bytes where text is due": (target) => throwAt(target, 50, Buffer.concat([upgrade("/ws"), frame(randomBytes(target, 1_000), 2)]), "all"),
  "broken frames": (target) => throwAt(target, 50, Buffer.concat([upgrade("/ws"), randomBytes(target, 2_000)]), "all"),
  "20 floods of tiny messages": (target) =>
    throwAt(
      target,
      20,
      client(
        "/ws",
        list(2_000, () => "{}"),
      ),
      "nothing",
    ),
  "10,000 rooms": async (target) => {
    const name = anyName(target);
    await Promise.all(
      list(100, (number) =>
        throwAt(
          target,
          1,
          client(
            "/ws",
            list(100, (room) => ({ type: "join", room: `${name} ${number} ${room}` })),
          ),
          "all",
        ),
      ),
    );
  },
  "one client in 1,000 rooms": (target) =>
    throwAt(
      target,
      10,
      client(
        "/ws",
        list(1_000, (room) => ({ type: "join", room: `${anyName(target)} ${room}` })),
      ),
      "all",
    ),
  "a busy room whose members read nothing": async (target) => {
    const room = anyName(target);
    const text = "x".repeat(4_000);
    await Promise.all([
      throwAt(target, 50, client("/ws", [{ type: "join", room }]), "nothing"),
      throwAt(target, 3, client("/ws", [{ type: "join", room }, ...list(300, () => ({ type: "chat", room, text }))]), "all"),
    ]);
  },
  "PeerJS messages for clients that never come": async (target) => {
    const messages = list(2_000, () => ({
      type: "OFFER",
      dst: anyName(target),
      payload: { sdp: description, connectionId: "x".repeat(500) },
    }));
    await Promise.all(
      list(10, (number) => throwAt(target, 1, client(`/peerjs?key=peerjs&id=${anyName(target)}${number}&token=t`, messages), "all")),
    );
  },
  "PeerJS: one identifier, many tokens": (target) =>
    Promise.all(list(100, (token) => throwAt(target, 1, upgrade(`/peerjs?key=peerjs&id=same&token=${token % 3}`), "all"))).then(() => {}),
  "Socket.IO: broken packets": async (target) => {
    const packets = list(
      100,
      () =>
        ['40{"room":', '42["signal"', "451-x", "9", '42[1,{"a":[]}]', `42["${anyName(target)}",{}]`, "3", "6"][
          target.random.below(8)
        ] as string,
    );
    await Promise.all([
      throwAt(target, 20, client(overWebSocket, ["40", ...packets]), "all"),
      throwAt(target, 20, client(overWebSocket, packets), "all"),
    ]);
  },
  "Socket.IO: deep events and attachments that never come": (target) =>
    throwAt(
      target,
      10,
      client(overWebSocket, [
        "40",
        `42["signal",${"[".repeat(32_000)}${"]".repeat(32_000)}]`,
        '4599-["signal",{"_placeholder":true,"num":0}]',
        "42[]",
      ]),
      "all",
    ),
  "Socket.IO: names of events that are no texts, and a deep CONNECT": async (target) => {
    const deep = `40{"room":"x","name":${"[".repeat(32_000)}${"]".repeat(32_000)}}`;
    await Promise.all([
      throwAt(target, 10, client(overWebSocket, ["40", "42[1]", "42[null]", '42[{"signal":{}}]', "42[[1]]"]), "all"),
      throwAt(target, 10, client(overWebSocket, [deep, "42[1]"]), "all"),
    ]);
  },
  "Socket.IO: 10,000 packets in a body": async (target) => {
    const base = `http://127.0.0.1:${target.port}${polling}`;
    for (const packet of ["40/a,", "3", "42[1]"]) {
      const { sid } = JSON.parse((await (await fetch(base)).text()).slice(1)) as { readonly sid: string };
      const body = Buffer.from(list(10_000, () => packet).join("\x1e"));
      await throwAt(target, 1, httpRequest("POST", `${polling}&sid=${sid}`, { headers: "Content-Type: text/plain\r\n", body }), "all");
    }
  },
  "descriptions with tens of thousands of codecs": (target) =>
    throwAt(
      target,
      5,
      client("/ws", [
        { type: "offer", to: "nobody", sdp: `v=0\r\nm=video 9 RTP/AVP ${"0 ".repeat(10_000)}\r\n${"a=fmtp:9\r\n".repeat(3_500)}` },
      ]),
      "all",
    ),
  "signals to identifiers of 60 kB": (target) =>
    throwAt(
      target,
      2,
      client(
        "/ws",
        list(50, () => ({ type: "candidate", to: anyName(target).repeat(8_000), candidate: null })),
      ),
      "all",
    ),
  "PeerJS: 2,000 messages that one client gets at once": async (target) => {
    const dst = anyName(target);
    const messages = list(2_000, () => ({ type: "OFFER", dst, payload: {} }));
    await throwAt(target, 1, client(`/peerjs?key=peerjs&id=${dst}-sender&token=t`, messages), "all");
    await throwAt(target, 1, upgrade(`/peerjs?key=peerjs&id=${dst}&token=t`), "all");
  },
  "y-webrtc: 20 kB to a busy topic": async (target) => {
    const topic = anyName(target);
    const subscribe = { type: "subscribe", topics: [topic] };
    const messages = list(50, () => ({ type: "publish", topic, data: "x".repeat(20_000) }));
    await Promise.all([
      throwAt(target, 100, client("/y-webrtc", [subscribe]), "nothing"),
      throwAt(target, 1, client("/y-webrtc", [subscribe, ...messages]), "all"),
    ]);
  },
  "y-webrtc: 20 kB to 400 who read": async (target) => {
    const topic = anyName(target);
    const subscribe = { type: "subscribe", topics: [topic] };
    const messages = list(200, () => ({ type: "publish", topic, data: "x".repeat(20_000) }));
    await Promise.all([
      throwAt(target, 400, client("/y-webrtc", [subscribe]), "all"),
      throwAt(target, 1, client("/y-webrtc", [subscribe, ...messages]), "all"),
    ]);
  },
  "JSON: 400 in a room who all speak": async (target) => {
    const room = anyName(target);
    const text = "x".repeat(4_000);
    await throwAt(target, 400, client("/ws", [{ type: "join", room }, ...list(20, () => ({ type: "chat", room, text }))]), "all");
  },
  "y-webrtc: in and out of 100 rooms of 50 others": async (target) => {
    const rooms = list(100, (room) => `${anyName(target)} ${room}`);
    const both = ["subscribe", "unsubscribe"].map((type) => ({ type, topics: rooms }));
    await Promise.all([
      throwAt(
        target,
        50,
        client(
          "/ws",
          rooms.map((room) => ({ type: "join", room })),
        ),
        "all",
      ),
      throwAt(
        target,
        5,
        client(
          "/y-webrtc",
          list(10, (index) => both[index % 2] as object),
        ),
        "all",
      ),
    ]);
  },
  "large messages of 20 clients at once": (target) => {
    const topics = list(20_000, () => anyName(target));
    return throwAt(
      target,
      20,
      client(
        "/y-webrtc",
        list(10, () => ({ type: "subscribe", topics })),
      ),
      "all",
    );
  },
  "Socket.IO: sessions that never poll": (target) => throwAt(target, 200, httpRequest("GET", polling), "all"),
  "y-webrtc: 20,000 topics in a message": (target) =>
    throwAt(target, 10, client("/y-webrtc", [{ type: "subscribe", topics: list(20_000, () => anyName(target)) }]), "all"),
  "y-webrtc: new identifiers in one topic": (target) =>
    throwAt(
      target,
      10,
      client("/y-webrtc", [
        { type: "subscribe", topics: ["one"] },
        ...list(1_000, () => ({ type: "publish", topic: "one", data: { type: "announce", from: anyName(target).repeat(20) } })),
      ]),
      "all",
    ),
};
