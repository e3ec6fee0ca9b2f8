import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFailed } from "vitest";
import type { RtspActions, RtspViews } from "../../contract/services/rtsp.ts";
import type { RtspMessagePart, RtspSession } from "../../contract/traffic/rtsp.ts";
import { headerOf, type InterleavedPacket, type RtspResponse } from "../../servers/rtsp/protocol/message.ts";
import { RtspParser } from "../../servers/rtsp/protocol/rtsp-parser.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { onEnd, type ServiceUnderTest, startService } from "../support/start-service.ts";
import { until } from "../support/until.ts";

export interface RtspContract {
  readonly actions: RtspActions;
  readonly views: RtspViews;
  readonly detail: RtspSession;
  readonly part: RtspMessagePart;
}

export interface RtspUnderTest extends ServiceUnderTest<RtspContract> {
  readonly port: number;
  /** "rtsp://127.0.0.1:8554" */
  readonly url: string;
  /** Of the management. */
  readonly httpUrl: string;
  /** A connection of our own, from this address of the computer. */
  connect(localAddress?: string): Promise<RawClient>;
}

export { onEnd };

/** The service on free ports, stopped after the test. */
export async function startRtsp(config: Record<string, unknown> = {}, certificatesDir?: string, dataDir?: string): Promise<RtspUnderTest> {
  const service = await startService<RtspContract>(rtspService, {
    config: { port: 0, rtpPort: 0, httpPort: 0, tlsPort: 0, ...config },
    ...(certificatesDir && { certificatesDir }),
    ...(dataDir && { dataDir }),
  });
  onTestFailed(() => void process.stderr.write(`${service.logs.map(({ level, text }) => `${level} ${text}`).join("\n")}\n`));
  const url = (service.endpoints[0]?.url ?? "").replace(/\/stream$/, "");
  const port = Number(new URL(url).port);
  return {
    ...service,
    port,
    url,
    httpUrl: service.urlOf("HTTP"),
    connect: (localAddress = "127.0.0.1") => RawClient.connect(port, url, localAddress),
  };
}

export const tcpTransport = (track: number): string => `RTP/AVP/TCP;unicast;interleaved=${2 * track}-${2 * track + 1}`;

/** Sends what it is told to, byte by byte if need be, and keeps what comes. */
export class RawClient {
  readonly packets: InterleavedPacket[] = [];
  readonly responses: RtspResponse[] = [];
  closed = false;
  readonly socket: Socket;
  readonly url: string;
  readonly #parser = new RtspParser({ headBytes: 1 << 20, headerFields: 1_000, bodyBytes: 1 << 20, uriBytes: 1 << 20 });
  #cseq = 0;

  constructor(socket: Socket, url: string) {
    this.socket = socket;
    this.url = url;
    socket.on("data", (chunk) => {
      this.#parser.push(chunk);
      for (let item = this.#parser.next(); item; item = this.#parser.next()) {
        if (item.kind === "packet") this.packets.push(item);
        else if (item.kind === "response") this.responses.push(item);
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
    });
  }

  static async connect(port: number, url: string, localAddress: string): Promise<RawClient> {
    const socket = connect({ port, host: localAddress.includes(":") ? "::1" : "127.0.0.1", localAddress });
    onEnd(() => socket.destroy());
    await once(socket, "connect");
    return new RawClient(socket, url);
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Waits for the answer that is next. */
  async next(): Promise<RtspResponse> {
    const count = this.responses.length;
    return await until(() => this.responses[count]);
  }

  /** `path` is "/stream", a whole URI, or "*". */
  request(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = ""): Promise<RtspResponse> {
    const uri = path.startsWith("/") ? this.url + path : path;
    const fields = { CSeq: String(++this.#cseq), ...headers, ...(body !== "" && { "Content-Length": String(Buffer.byteLength(body)) }) };
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = this.next();
    this.write(`${method} ${uri} RTSP/1.0\r\n${head.join("")}\r\n${body}`);
    return answer;
  }

  /** SETUP of the tracks over TCP. Resolves with the session's identifier. */
  async setUp(path: string, tracks: readonly number[] = [0, 1], transport = tcpTransport): Promise<string> {
    let session = "";
    for (const track of tracks) {
      const answer = await this.request("SETUP", `${path}/trackID=${track}`, {
        Transport: transport(track),
        ...(session !== "" && { Session: session }),
      });
      if (answer.status !== 200) throw new Error(`SETUP: ${answer.status} ${answer.reason}`);
      session = header(answer, "Session").split(";")[0] ?? "";
    }
    return session;
  }

  async play(path: string, tracks?: readonly number[]): Promise<{ readonly session: string; readonly answer: RtspResponse }> {
    const session = await this.setUp(path, tracks);
    const answer = await this.request("PLAY", path, { Session: session });
    if (answer.status !== 200) throw new Error(`PLAY: ${answer.status} ${answer.reason}`);
    return { session, answer };
  }

  rtp(channel: number): Buffer[] {
    return this.packets.filter((packet) => packet.channel === channel).map(({ payload }) => payload);
  }

  async ended(): Promise<void> {
    await until(() => this.closed);
  }
}

export const header = (answer: RtspResponse, name: string): string => headerOf(answer.headers, name) ?? "";

/** It reads nothing, and asks for the frames since the last key frame again and again: the buffers of the system take some megabytes. */
export function stallUntilSlow({ socket, url }: RawClient, session: string): () => void {
  socket.pause();
  const again = (method: string) => `${method} ${url}/test RTSP/1.0\r\nCSeq: 100\r\nSession: ${session}\r\n\r\n`;
  const timer = setInterval(() => socket.write(again("PAUSE") + again("PLAY")), 20);
  const release = () => clearInterval(timer);
  onEnd(release);
  return release;
}

/** Even ports of a client for RTP, and for RTCP the next one. */
export async function udpPair(
  address = "127.0.0.1",
): Promise<{ readonly rtp: UdpSocket; readonly rtcp: UdpSocket; readonly port: number }> {
  for (;;) {
    const rtp = createSocket("udp4").bind(0, address);
    await once(rtp, "listening");
    const { port } = rtp.address();
    const rtcp = createSocket("udp4");
    rtcp.bind(port + 1, address);
    const [event] = await Promise.race([once(rtcp, "listening").then(() => ["listening"]), once(rtcp, "error").then(() => ["error"])]);
    onEnd(() => rtp.close());
    if (event !== "listening") continue;
    onEnd(() => rtcp.close());
    return { rtp, rtcp, port };
  }
}

export const udpTransport = (port: number) => () => `RTP/AVP;unicast;client_port=${port}-${port + 1}`;
