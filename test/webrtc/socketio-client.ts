import { once } from "node:events";
import { createConnection, type Socket as TcpSocket } from "node:net";
import { io, type ManagerOptions, type Socket, type SocketOptions } from "socket.io-client";
import { createEventLog, type EventLog } from "../support/event-log.ts";
import { onEnd } from "../support/start-service.ts";
import type { Webrtc } from "./dialect-harness.ts";

export interface Client {
  readonly socket: Socket;
  readonly id: string;
  readonly log: EventLog<{ readonly event: string; readonly data: never }>;
  until(event: string): Promise<unknown>;
}

/** Of Socket.IO, once it has joined or was refused. */
export async function connect({ host }: Webrtc, options: Partial<ManagerOptions & SocketOptions> = {}): Promise<Client> {
  const socket = io(`http://${host}`, { forceNew: true, reconnection: false, transports: ["websocket"], ...options });
  onEnd(() => socket.disconnect());
  const log = createEventLog<{ event: string; data: never }>();
  socket.onAny((event, data) => log.add({ event, data: data as never }));
  await log.until(({ event }) => event === "joined" || event === "error");
  return {
    socket,
    log,
    id: socket.id ?? "",
    until: async (event) => (await log.until((one) => one.event === event)).data,
  };
}

const target = "/socket.io/?EIO=4&transport=polling";
/** Of a request that opens a session of long polling. */
export const pollingUrl = (host: string): string => `http://${host}${target}`;

/** A session of long polling by hand. */
export interface PollingSession {
  readonly sid: string;
  /** Of its requests. */
  readonly url: string;
}

export async function openPolling(host: string): Promise<PollingSession> {
  const { sid } = JSON.parse((await (await fetch(pollingUrl(host))).text()).slice(1)) as { sid: string };
  return { sid, url: `${pollingUrl(host)}&sid=${sid}` };
}

/** Sends it a packet that asks for nothing. */
export const isOpen = async ({ url }: PollingSession): Promise<boolean> => (await fetch(url, { method: "POST", body: "6" })).status === 200;

/** A connection with these requests without bodies, one behind the other, which all wait for their answers. */
export async function sendAtOnce(method: "GET" | "POST", sessions: readonly PollingSession[]): Promise<TcpSocket> {
  const { hostname, port } = new URL(sessions[0]?.url ?? "");
  const socket = createConnection({ host: hostname, port: Number(port) });
  onEnd(() => socket.destroy());
  await once(socket, "connect");
  for (const { sid } of sessions) socket.write(`${method} ${target}&sid=${sid} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

/** Requests for packets that have no answer yet. */
export const waitingPolls = ({ service }: Webrtc): number =>
  service.rows().filter(({ verb, tone }) => verb === "GET" && tone === "pending").length;
