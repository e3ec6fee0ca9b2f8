import { readFileSync } from "node:fs";
import path from "node:path";
import { WebSocket } from "ws";
import type { WebrtcActions, WebrtcViews } from "../../contract/services/webrtc.ts";
import type { WebrtcPeer, WebrtcSignal } from "../../contract/traffic/webrtc.ts";
import { webrtcService } from "../../servers/webrtc/webrtc-service.ts";
import { createEventLog, type EventLog } from "../support/event-log.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { onEnd, type ServiceUnderTest, startService } from "../support/start-service.ts";

interface WebrtcContract {
  readonly actions: WebrtcActions;
  readonly views: WebrtcViews;
  readonly detail: WebrtcPeer | WebrtcSignal;
}

export interface Webrtc {
  readonly service: ServiceUnderTest<WebrtcContract>;
  /** "127.0.0.1:53110" */
  readonly host: string;
}

const anyPorts = { port: 0, turnPort: 0, turnsPort: 0, mediaPort: 0 };

/** The whole service on ports that are free. */
export async function startWebrtc(config: Readonly<Record<string, unknown>> = {}): Promise<Webrtc> {
  const service = await startService<WebrtcContract>(webrtcService, {
    config: { ...anyPorts, turns: false, ...config },
  });
  return { service, host: new URL(service.urlOf("WS")).host };
}

export type Message = Readonly<Record<string, unknown>>;

/** A client that speaks a dialect by hand. */
export interface WireClient {
  readonly log: EventLog<Message>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  send(message: Message | string | Buffer): void;
  /** The first message of this type, past or to come. */
  until(type: string): Promise<Message>;
  close(): void;
}

export async function connectWire({ host }: Webrtc, target: string): Promise<WireClient> {
  const socket = new WebSocket(`ws://${host}${target}`);
  const log = createEventLog<Message>();
  socket.on("message", (data) => log.add(JSON.parse(String(data))));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  socket.on("error", () => {});
  onEnd(() => {
    socket.terminate();
    return closed;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    log,
    closed,
    send: (message) => socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    until: (type) => log.until((message) => message.type === type),
    close: () => socket.close(),
  };
}

export interface JsonClient extends WireClient {
  readonly id: string;
}

/** A client of plain JSON that is in a room. */
export async function joinJson(webrtc: Webrtc, room: string, more: Message = {}): Promise<JsonClient> {
  const client = await connectWire(webrtc, "/ws");
  const { id } = await client.until("welcome");
  client.send({ type: "join", room, ...more });
  await client.until("joined");
  return { ...client, id: id as string };
}

/** A client of PeerJS that is open. */
export async function openPeerJs(webrtc: Webrtc, id: string, { key = "peerjs", token = `token-${id}` } = {}): Promise<WireClient> {
  const client = await connectWire(webrtc, `/peerjs?key=${encodeURIComponent(key)}&id=${id}&token=${token}`);
  await client.until("OPEN");
  return client;
}

/** The text of a script of a package, for a page. */
export const scriptOf = (file: string): string => readFileSync(path.join(projectRoot, "node_modules", file), "utf8");
