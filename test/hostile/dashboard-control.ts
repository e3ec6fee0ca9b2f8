import { randomBytes as bytesOfChance } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openControlSocket } from "../../bench/control-socket.ts";
import { topicPolicies } from "../../contract/control.ts";
import { controlProtocol, linkFragment, maxFrameBytes, tokenProtocol, type UpFrame } from "../../contract/wire.ts";
import {
  atEndpoint,
  closeOf,
  type HostileService,
  httpAttacks,
  httpRequest,
  overEndpoint,
  type Target,
  throwAt,
} from "./hostile-service.ts";

/** The label by which a target gives the dashboard's link. */
export const dashboardLabel = "Dashboard";

interface Offered {
  readonly host?: string;
  readonly origin?: string;
  readonly token?: string;
}

const upgradeHead = (target: Target, offered: Offered = {}): Buffer => {
  const { host, origin, hash } = new URL(target.urlOf(dashboardLabel));
  const token = offered.token ?? hash.slice(linkFragment.length);
  return Buffer.from(
    [
      "GET /control HTTP/1.1",
      `Host: ${offered.host ?? host}`,
      `Origin: ${offered.origin ?? origin}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${bytesOfChance(16).toString("base64")}`,
      `Sec-WebSocket-Protocol: ${controlProtocol}, ${tokenProtocol(token)}`,
      "\r\n",
    ].join("\r\n"),
  );
};

/** RFC 6455 §5.2: a masked frame of a client; the mask is zero. */
function webSocketFrame(opcode: number, content: Buffer): Buffer {
  const length = content.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 1 << 16 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (length < 126 ? length : length < 1 << 16 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.alloc(4), content]);
}

const up = (frame: UpFrame): Buffer => webSocketFrame(1, Buffer.from(JSON.stringify(frame)));

/** A dashboard that has its token: opens connections and writes frames to them. */
async function asDashboard(target: Target, connections: number, content: Buffer, reads: "nothing" | "all"): Promise<void> {
  const port = atEndpoint(target, dashboardLabel).port;
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  const closed = Promise.all(sockets.map((socket) => closeOf(socket)));
  for (const socket of sockets) {
    socket.write(upgradeHead(target));
    // The frames follow the answer: what comes with the request is the head of the upgrade.
    socket.once("data", () => {
      socket.write(content);
      if (reads === "nothing") socket.pause();
      else socket.resume();
    });
  }
  await Promise.race([closed, delay(target.holdMs)]);
  for (const socket of sockets) socket.destroy();
  await closed;
}

const at = (target: Target): Target => atEndpoint(target, dashboardLabel);
const calls = (count: number, name: string, params: unknown): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, id) => up({ type: "call", id, name, params })));

/** The control plane of the program, which runs with the HTTP service. */
export const dashboardControl: HostileService = {
  flags: [],
  config: {},
  async openBystander({ urlOf }) {
    const socket = await openControlSocket(urlOf(dashboardLabel));
    return {
      async ask() {
        await socket.call("service.list", {});
      },
      close: async () => socket.close(),
    };
  },
  attacks: {
    ...overEndpoint(dashboardLabel, httpAttacks("/", "/control")),
    "the largest file, unread": (target) => throwAt(at(target), 100, httpRequest("GET", "/index.html"), "nothing"),
    "foreign hosts, origins and tokens": async (target) => {
      for (const offered of [{ host: "attacker.example" }, { origin: "https://attacker.example" }, { token: "x".repeat(64) }])
        await throwAt({ ...at(target), holdMs: Math.min(100, target.holdMs) }, 20, upgradeHead(target, offered), "all");
    },
    "broken frames": (target) => {
      const content = Buffer.concat([up({ type: "subscribe", topic: "log" }), bytesOfChance(2_000)]);
      return asDashboard(target, 20, content, "all");
    },
    "frames that are no JSON": (target) => asDashboard(target, 20, webSocketFrame(1, Buffer.from("{".repeat(100_000))), "all"),
    "frames of the largest size": (target) =>
      asDashboard(
        target,
        10,
        webSocketFrame(1, Buffer.from(`{"type":"call","id":1,"name":"x","params":${"[".repeat(maxFrameBytes - 100)}`)),
        "all",
      ),
    "frames above the largest size": (target) => asDashboard(target, 10, webSocketFrame(2, Buffer.alloc(maxFrameBytes + 1)), "all"),
    "20,000 calls": (target) => asDashboard(target, 4, calls(5_000, "service.list", {}), "all"),
    "calls, answers unread": (target) => asDashboard(target, 8, calls(3_000, "config.read", { id: "http" }), "nothing"),
    "reads of all rows, answers unread": (target) =>
      asDashboard(target, 4, calls(500, "traffic.read", { id: "http", limit: 1_000, text: "zzz" }), "nothing"),
    "subscriptions to everything, unread": async (target) => {
      const topics = Buffer.concat([...topicPolicies.keys()].map((topic) => up({ type: "subscribe", topic })));
      await Promise.all([
        asDashboard(target, 20, topics, "nothing"),
        throwAt(target, 8, Buffer.concat(Array.from({ length: 500 }, (_, index) => httpRequest("GET", `/anything/${index}`))), "all"),
      ]);
    },
    "subscriptions that come and go": (target) =>
      asDashboard(
        target,
        8,
        Buffer.concat(
          Array.from({ length: 2_000 }, (_, index) =>
            up(index % 2 === 0 ? { type: "subscribe", topic: "traffic/http" } : { type: "unsubscribe", topic: "traffic/http" }),
          ),
        ),
        "all",
      ),
    "binary subscriptions": (target) =>
      asDashboard(
        target,
        8,
        Buffer.concat(
          Array.from({ length: 2_000 }, (_, subscription) =>
            up({ type: "binarySubscribe", subscription, service: "rtsp", topic: "picture", source: `source ${subscription}` }),
          ),
        ),
        "all",
      ),
  },
};
