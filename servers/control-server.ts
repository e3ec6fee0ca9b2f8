import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import path from "node:path";
import { exportPath } from "../contract/export.ts";
import {
  type BinaryFrame,
  controlProtocol,
  type DownFrame,
  linkExpiredCode,
  linkFragment,
  maxFrameBytes,
  maxFrameValues,
  type Port,
  tokenProtocol,
} from "../contract/wire.ts";
import { createBoundedServers } from "./core/http/connections/bounded-server.ts";
import { type WorkingRequest, writeForClient } from "./core/http/connections/client-work.ts";
import { hasEmptyHost } from "./core/http/http-route.ts";
import { acceptWebSocket } from "./core/http/websocket/accept-web-socket.ts";
import { closeCode } from "./core/http/websocket/close-code.ts";
import { HeldWebSocket } from "./core/http/websocket/held-web-socket.ts";
import type { ServerWebSocket } from "./core/http/websocket/server-web-socket.ts";
import { isDeeperJson, valuesOfJson } from "./core/limits/json-grammar.ts";
import { SharedBudget } from "./core/limits/shared-budget.ts";
import { lingeringClose } from "./core/net/client-socket.ts";
import { listenTcp } from "./core/net/tcp-listener.ts";
import { oneStep, type WorkConnection } from "./core/turns/work-connection.ts";
import { WorkTurns } from "./core/turns/work-turns.ts";
import { DashboardFiles } from "./dashboard-files.ts";
import { linkToken } from "./dashboard-secret.ts";
import type { ClaimedExport } from "./supervisor/exports.ts";

export interface ControlServerOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /** The built dashboard. */
  readonly dashboardDir: string;
  /** The secret from which the link's token is derived. */
  readonly secret: string;
  readonly attach: (port: Port<DownFrame, unknown>, reject: () => void) => void;
  /** The export that a link's token leads to, once. */
  readonly claimExport: (token: string) => ClaimedExport | undefined;
  /** Connections that have shown no token. Of those one that has sent nothing, or else one that is answered, or else the oldest gives way to a new one: no program keeps a dashboard out. */
  readonly mostWithoutToken?: number | undefined;
  /** What all dashboards together leave unread. Beyond it the one that has most is disconnected, and begins anew. */
  readonly unreadBytes?: number | undefined;
}

export interface ControlServer {
  /** The link with its token, which gives control over Backlot. */
  readonly url: string;
  close(): Promise<void>;
}

const exportTypes: Readonly<Record<string, string>> = {
  ".csv": "text/csv; charset=utf-8",
  ".jsonl": "application/jsonl; charset=utf-8",
  ".log": "text/plain; charset=utf-8",
};

/** Unread bytes above which a dashboard's connection is closed; it reconnects. */
const maxBufferedBytes = 32 << 20;
const standardUnreadBytes = 128 << 20;
/** Of all answers, which share the bytes of a file. A browser pauses a download until its user has chosen a folder. */
const unreadLimits = { allUnsentBytes: 256 << 20, unreadTimeoutMs: 600_000 };
const standardWithoutToken = 256;
/**
 * A browser sends the cookies that any port of the host has set, such as those of a service or of the program under test: enough of them would keep the dashboard
 * out of the browser. It needs none.
 */
const heads = { bytes: 256 << 10, refusal: refusalOfCookies() };

function refusalOfCookies(): string {
  const text =
    "The browser sent more than 256 KiB of cookies, which another port of this host has set. They are deleted now: load the page again.\n";
  const fields = [
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${text.length}`,
    'Clear-Site-Data: "cookies"',
    "Connection: close",
  ];
  return `HTTP/1.1 431 Request Header Fields Too Large\r\n${fields.join("\r\n")}\r\n\r\n${text}`;
}
/** A page offers two: the protocol and its token. */
const mostProtocols = 4;
/** Of a WebSocket with a wrong token: the close frame is enough (RFC 6455 §5.5). */
const [refusedFrameBytes, refusedCloseMs] = [125, 1_000];

/**
 * The dashboard on loopback: static files, which hold no secret, exports by links that hold once, and the control WebSocket at
 * /control, which needs the link's token. Host and Origin are checked, so a page of another origin can neither read nor call, also not by
 * DNS rebinding. There is no cookie: a browser would send it to every server of 127.0.0.1. Throws PORT_IN_USE and the like.
 */
export async function startControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { mostWithoutToken = standardWithoutToken, unreadBytes = standardUnreadBytes } = options;
  const unread = new SharedBudget(unreadBytes);
  const releases: (() => Promise<void>)[] = [];
  const files = new DashboardFiles(options.dashboardDir);
  const webSockets = new Set<ServerWebSocket>();
  /** In which requests begin and frames are read: one of the largest size may be half a million lists. */
  const turns = new WorkTurns();
  /** In the order in which they came. */
  const withoutToken = new Set<Socket>();
  /** Those with a request that is being answered. */
  const unanswered = new Set<Socket>();
  let port = 0;
  let token = "";

  const hosts = () => loopbackHosts(port);
  const isOurHost = (request: IncomingMessage) => hosts().includes(request.headers.host ?? "");
  const isOurTarget = ({ host }: AskedTarget) => host === undefined || hosts().includes(host);
  const hasToken = (protocols: readonly string[]) => protocols.some((protocol) => sameSecret(protocol, tokenProtocol(token)));

  async function onRequest(request: IncomingMessage, response: ServerResponse, work: WorkConnection) {
    if (!isOurHost(request)) return refuse(response, 421, "This server answers only for its loopback address.");
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(response, 405, "Only GET is allowed here.", { allow: "GET, HEAD" });
    const asked = readTarget(request.url ?? "/");
    if (asked === undefined) return refuse(response, 400, "This is not a valid address.");
    if (!isOurTarget(asked)) return refuse(response, 421, "This server answers only for its loopback address.");
    const { pathname } = asked;
    if (pathname.startsWith(exportPath)) await sendExport(request, response, pathname.slice(exportPath.length));
    else await sendFile({ socket: request.socket, work }, response, pathname, request.method === "HEAD");
  }

  async function sendExport(request: IncomingMessage, response: ServerResponse, linkToken: string) {
    // HEAD must not use up the link.
    if (request.method === "HEAD") return refuse(response, 405, "An export can be fetched once, by GET.", { allow: "GET" });
    const claimed = options.claimExport(linkToken);
    if (claimed) withoutToken.delete(request.socket);
    else return refuse(response, 404, "This export was fetched already, or its link has expired. Start it again.");
    response.writeHead(200, {
      "content-type": exportTypes[path.extname(claimed.name)] ?? "application/octet-stream",
      "content-disposition": `attachment; filename="${claimed.name}"`,
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    await claimed.sendTo(response);
  }

  async function sendFile(client: WorkingRequest, response: ServerResponse, pathname: string, headOnly: boolean) {
    // Safari does not count a WebSocket of the same origin as 'self'; the policy's grammar has no IPv6 addresses.
    const named = hosts().filter((host) => !host.startsWith("["));
    const sources = named.map((host) => `ws://${host}`);
    const file = await files.read(pathname, sources);
    if (!file) return refuse(response, 404, "There is no such file.");
    response.writeHead(200, file.headers);
    if (!headOnly) await writeForClient(client, response, piecesOf(file.content));
    response.end();
  }

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer) {
    const fromOurPage = hosts().some((host) => request.headers.origin === `http://${host}`);
    const offered = request.headers["sec-websocket-protocol"]?.split(",", mostProtocols + 1).map((protocol) => protocol.trim()) ?? [];
    const asked = readTarget(request.url ?? "");
    const isForControl = asked?.pathname === "/control" && isOurTarget(asked);
    if (!isOurHost(request) || !fromOurPage || offered.length > mostProtocols || !isForControl) {
      lingeringClose(socket, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const isAccepted = hasToken(offered) && offered.includes(controlProtocol);
    const webSocket = acceptWebSocket(request, socket, head, {
      messageBytes: isAccepted ? maxFrameBytes : refusedFrameBytes,
      work: turns.connection(socket.remoteAddress ?? ""),
      // A browser needs one of those that it offered. Which one shows the page whether its token is accepted.
      choose: (protocols) => (isAccepted ? controlProtocol : protocols.find((protocol) => protocol !== controlProtocol)),
    });
    if (!webSocket) return;
    webSockets.add(webSocket);
    webSocket.on("close", () => webSockets.delete(webSocket));
    if (isAccepted) {
      withoutToken.delete(socket);
      const held = new HeldWebSocket(webSocket, socket.remoteAddress ?? "", unread);
      options.attach(webSocketPort(webSocket, held), () => webSocket.close(closeCode.policy, "not a frame"));
      // A page can read a close code, but not the reason of a refused upgrade.
    } else webSocket.close(linkExpiredCode, "link expired", refusedCloseMs);
  }

  function onConnection(socket: Socket): void {
    withoutToken.add(socket);
    socket.once("close", () => withoutToken.delete(socket));
    if (withoutToken.size <= mostWithoutToken) return;
    // What a browser asks for comes with its connection; what has been answered is not needed any more.
    const others = [...withoutToken].filter((one) => one !== socket);
    const first = others.find(({ bytesRead }) => bytesRead === 0) ?? others.find((one) => !unanswered.has(one)) ?? others[0];
    if (!first) return;
    // It closes in its turn, and is not to be found again until then.
    withoutToken.delete(first);
    first.destroy();
  }

  const { createServer, places } = createBoundedServers(
    { ...unreadLimits, connections: Number.POSITIVE_INFINITY, connectionsPerAddress: Number.POSITIVE_INFINITY },
    // It fails where the client has left; no request may end the program.
    (request, response, work) => {
      const { socket } = request;
      unanswered.add(socket);
      response.once("close", () => unanswered.delete(socket));
      void onRequest(request, response, work).catch(() => response.destroy());
    },
    turns,
    // curl --http2 asks for "h2c", and takes an answer by HTTP/1.1.
    ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
    heads,
  );

  port = await listenTcp({
    port: options.port,
    openToLan: false,
    places,
    createServer: () => {
      const server = createServer();
      server.prependListener("connection", onConnection);
      server.on("upgrade", (request, socket, head) => {
        socket.on("error", () => socket.destroy());
        const work = turns.connection((socket as Socket).remoteAddress ?? "");
        // Thousands may ask for it at once.
        void work.run(oneStep(() => onUpgrade(request, socket as Socket, head)));
      });
      return server;
    },
    onStop: (release) => void releases.push(release),
  });
  token = linkToken(options.secret, port);

  return {
    url: `http://127.0.0.1:${port}/${linkFragment}${token}`,
    async close() {
      for (const webSocket of webSockets) webSocket.terminate();
      await Promise.all(releases.map((release) => release()));
    },
  };
}

/** A write copies its bytes at once, as far as the client takes them. */
const pieceBytes = 64 << 10;

function* piecesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function webSocketPort(webSocket: ServerWebSocket, held: HeldWebSocket): Port<DownFrame, unknown> {
  const count = () => held.count();
  return {
    post(frame) {
      if (!webSocket.isOpen) return;
      if (webSocket.bufferedAmount > maxBufferedBytes) {
        webSocket.terminate();
        return;
      }
      webSocket.send(frame.type === "binary" ? encodeBinaryFrame(frame) : JSON.stringify(frame), count);
      count();
    },
    onFrame: (listener) => webSocket.on("message", (data) => listener(parseFrame(data))),
    onClose: (listener) => webSocket.on("close", () => listener()),
  };
}

/** Far more than any call has. */
const deepestFrame = 1_000;

/** Undefined where it is no JSON, too deep, or has too many values: the session rejects it as an invalid frame. */
function parseFrame(bytes: Buffer): unknown {
  if (isDeeperJson(bytes, deepestFrame) || valuesOfJson(bytes, maxFrameValues) > maxFrameValues) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Encodes the frame as described in contract/wire.ts. */
function encodeBinaryFrame({ payload, ...fields }: BinaryFrame): Buffer {
  const head = Buffer.from(JSON.stringify(fields));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, payload]);
}

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}) {
  response
    .writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", ...headers })
    .end(`${text}\n`);
}

function sameSecret(offered: string, expected: string): boolean {
  const [left, right] = [Buffer.from(offered), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

interface AskedTarget {
  /** Decoded. */
  readonly pathname: string;
  /** With its port, of a target in absolute form (RFC 9112 §3.2.2). It counts beside the Host field, which is checked too. */
  readonly host?: string;
}

/** Undefined where the target is no valid URL of http or has an invalid escape. */
function readTarget(target: string): AskedTarget | undefined {
  try {
    // "//name/path" would otherwise be read as another host.
    if (target.startsWith("/")) return { pathname: decodeURIComponent(new URL(`http://localhost${target}`).pathname) };
    if (hasEmptyHost(target)) return undefined;
    const { protocol, username, password, host, pathname } = new URL(target);
    return protocol === "http:" && username === "" && password === "" ? { pathname: decodeURIComponent(pathname), host } : undefined;
  } catch {
    return undefined;
  }
}

/** As browsers name this computer in Host and Origin, which leave out the standard port of http (RFC 9110 §4.2.3). */
export function loopbackHosts(port: number): readonly string[] {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  const hosts = names.map((name) => `${name}:${port}`);
  return port === 80 ? [...hosts, ...names] : hosts;
}
