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
