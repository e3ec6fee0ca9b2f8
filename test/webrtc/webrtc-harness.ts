import { once } from "node:events";
import { onTestFailed } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import type { IceServer, WebrtcActions, WebrtcViews } from "../../contract/services/webrtc.ts";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import type { TurnAllocation, TurnRequest, WebrtcPeer, WebrtcSignal } from "../../contract/traffic/webrtc.ts";
import { webrtcService } from "../../servers/webrtc/webrtc-service.ts";
import { createEventLog } from "../support/event-log.ts";
import { onEnd, type ServiceUnderTest, type StartOptions, startService } from "../support/start-service.ts";

export interface WebrtcContract {
  readonly actions: WebrtcActions;
  readonly views: WebrtcViews;
  readonly detail: WebrtcPeer | WebrtcSignal | TurnRequest | TurnAllocation | HttpExchange;
}

export interface WebrtcUnderTest extends ServiceUnderTest<WebrtcContract> {
  readonly port: number;
  /** A client of plain JSON, after its welcome. */
  connect(options?: ConnectOptions): Promise<JsonClient>;
}

export interface ConnectOptions extends ClientOptions {
  readonly secure?: boolean;
  readonly host?: string;
}

const anyPorts = Object.fromEntries(webrtcService.ports.map(({ field }) => [field, 0]));

/** The service on free ports, stopped after the test. */
export async function startWebrtc(
  config: Record<string, unknown> = {},
  dataDir?: string,
  more: Pick<StartOptions, "onBatch" | "readKept" | "firstRowId"> = {},
): Promise<WebrtcUnderTest> {
  const service = await startService<WebrtcContract>(webrtcService, {
    config: { ...anyPorts, logLevel: "debug", ...config },
    ...(dataDir !== undefined && { dataDir }),
    ...more,
  });
  onTestFailed(
    () =>
      void process.stderr.write(
        `${service.logs
          .map(({ level, text }) => `${level} ${text}`)
          .join("\n")
          .slice(-5_000)}\n`,
      ),
  );
  const port = Number(new URL(service.urlOf("WS")).port);
  return {
    ...service,
    port,
    async connect({ secure = false, host = "127.0.0.1", ...options } = {}) {
      const socket = new WebSocket(`${secure ? "wss" : "ws"}://${host}:${port}/ws`, { rejectUnauthorized: false, ...options });
      const client = new JsonClient(socket);
      await client.welcomed();
      return client;
    },
  };
}

/** A message of the service. */
export type Received = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A client that speaks plain JSON, right or wrong. */
export class JsonClient {
  readonly socket: WebSocket;
  readonly messages = createEventLog<Received>();
  readonly closed: Promise<number>;
  id = "";
  iceServers: readonly IceServer[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    onEnd(() => socket.terminate());
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => this.messages.add(JSON.parse(data.toString()) as Received));
    this.closed = new Promise((resolve) => socket.once("close", resolve));
  }

  async welcomed(): Promise<void> {
    const welcome = await this.messages.until(({ type }) => type === "welcome");
    this.id = welcome.id as string;
    this.iceServers = welcome.iceServers as readonly IceServer[];
  }

  send(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Sends a message, and resolves with the next one that comes. */
  async ask(message: object | string): Promise<Received> {
    const answer = this.messages.next();
    this.send(message);
    return await answer;
  }

  join(room: string, more: object = {}): Promise<Received> {
    return this.ask({ type: "join", room, ...more });
  }

  /** The next message of this type. */
  next(type: string): Promise<Received> {
    return this.messages.next((message) => message.type === type);
  }

  /** All of this type so far. */
  all(type: string): readonly Received[] {
    return this.messages.items.filter((message) => message.type === type);
  }

  /** Everything that was sent to it before has come when it resolves. */
  async settled(): Promise<void> {
    const pong = once(this.socket, "pong");
    this.socket.ping();
    await pong;
  }
}
