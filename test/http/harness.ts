import { connect, type Socket } from "node:net";
import type { HttpActions, HttpViews } from "../../contract/services/http.ts";
import type { Detail } from "../../contract/traffic/detail.ts";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import { httpService } from "../../servers/http/http-service.ts";
import { onEnd, type ServiceUnderTest, startService } from "../support/start-service.ts";
import { until } from "../support/until.ts";

interface HttpContract {
  readonly actions: HttpActions;
  readonly views: HttpViews;
  readonly detail: HttpExchange;
}

export interface HttpUnderTest extends ServiceUnderTest<HttpContract> {
  readonly port: number;
  readonly url: string;
  anyDetail(id: number): Detail;
}

/** The service on a free port, stopped after the test. */
export async function startHttp(config: Record<string, unknown> = {}, certificatesDir?: string): Promise<HttpUnderTest> {
  const service = await startService<HttpContract>(httpService, {
    config: { port: 0, ...config },
    ...(certificatesDir && { certificatesDir }),
  });
  const url = service.endpoints[0]?.url ?? "";
  return { ...service, url, port: Number(new URL(url).port), anyDetail: service.detail };
}

export { onEnd, until };

export interface RawConnection {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  send(bytes: string | Uint8Array): void;
  /** Resolves with all of it once the server has closed. */
  closed(): Promise<string>;
  /** Resolves once what came matches. */
  received(pattern: RegExp): Promise<string>;
}

export async function rawConnection(port: number, first?: string | Uint8Array): Promise<RawConnection> {
  const socket = connect({ port, host: "127.0.0.1" });
  onEnd(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  const over = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const text = () => Buffer.concat(chunks).toString("latin1");
  if (first !== undefined) socket.write(first);
  return {
    socket,
    text,
    send: (bytes) => void socket.write(bytes),
    async closed() {
      await over;
      return text();
    },
    received: (pattern) => until(() => (pattern.test(text()) ? text() : undefined)),
  };
}

/** One request as raw text on a connection of its own; everything that came back. */
export async function raw(port: number, request: string | Uint8Array): Promise<string> {
  return (await rawConnection(port, request)).closed();
}
