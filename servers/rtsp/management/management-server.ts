import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BoundedServerLimits, createBoundedServers } from "../../core/http/connections/bounded-server.ts";
import { pathOf } from "../../core/http/http-route.ts";
import { send } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { isByPublicName, isOfSameHost, isPartOfForeignPage } from "../../core/net/allowed-origins.ts";
import { plainAddress } from "../../core/net/client-socket.ts";
import { type ListenOptions, listenTcp } from "../../core/net/tcp-listener.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { Faults } from "../faults/faults.ts";
import type { EntryConnection } from "../observe/session-entry.ts";
import { decodedPath } from "../protocol/header-fields.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { Access } from "../sessions/access.ts";
import type { Paths } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";
import type { HlsOutputs } from "./hls-outputs.ts";
import type { HttpReaders } from "./http-readers.ts";
import type { ManagementRoute } from "./management-routes.ts";
import type { Snapshots } from "./snapshots.ts";
import { sendTransportStream, type TransportStreamLimits } from "./transport-stream-output.ts";

export interface ManagementServerOptions extends Omit<ListenOptions, "createServer"> {
  readonly routes: readonly ManagementRoute[];
  /** Of pages that may play, read and change all, also for the public names by which this server may be asked. */
  readonly allowsOrigin: (origin: string | undefined) => boolean;
  readonly paths: Paths;
  readonly hls: HlsOutputs;
  readonly readers: HttpReaders;
  readonly snapshots: Snapshots;
  readonly transportStreams: TransportStreamLimits;
  readonly faults: Faults;
  /** Bytes that faults hold back for one reader. */
  readonly faultBytes: number;
  readonly access: Access;
  readonly limits: BoundedServerLimits;
  /** Of all clients of the service. */
  readonly turns: WorkTurns;
  readonly log: Log;
}

const faultReason = "a fault that was started on demand";
const orAllow = "use its address, or allow the origin in the configuration (RTSP_ALLOWED_ORIGINS)";
const jsonType = "application/json; charset=utf-8";

/** Serves the management over HTTP, and the streams as HLS and MPEG-TS. Of pages, those of `allowsOrigin` may use it. Resolves with the port. */
export function listenManagement({
  routes,
  allowsOrigin,
  paths,
  hls,
  readers,
  snapshots,
  transportStreams,
  faults,
  faultBytes,
  access,
  limits,
  turns,
  log,
  ...listen
}: ManagementServerOptions): Promise<number> {
  const works = new WeakMap<Socket, WorkConnection>();

  /** Thousands may wait for the same segment or picture. */
  function inTurn({ socket }: IncomingMessage, act: () => void): Promise<void> {
    const work = works.get(socket) ?? turns.connection(socket.remoteAddress ?? "");
    works.set(socket, work);
    return work.run(oneStep(act));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const isRead = method === "GET" || method === "HEAD";
    refuseForeign(request);
    const path = pathOf(url);
    const { socket } = request;
    const client = { address: plainAddress(socket.remoteAddress ?? ""), connection: socket, hasLeft: () => socket.destroyed };
    const media = isRead ? mediaFile(path) : undefined;
    if (media) {
      const user = await access.check({ method, path: media.path, right: "read", authorization: headers.authorization, client });
      if (isAnsweredByFault(media.path, response)) return;
      await sendMedia(media, user, request, response);
      return;
    }
    const found = routes.map((route) => ({ route, parts: route.path.exec(path) })).filter(({ parts }) => parts !== null);
    if (found.length === 0) throw new HttpRefusal(404, "there is nothing here");
    const matching = found.find(({ route }) => (route.method === "GET" ? isRead : route.method === method));
    if (!matching)
      throw new HttpRefusal(405, "method not allowed", { headers: { Allow: found.map(({ route }) => route.method).join(", ") } });
    // RFC 6454 §8.3: a page of another origin can send a POST without being asked back.
    if (!isRead && !allowsOrigin(headers.origin)) throw new HttpRefusal(403, `pages of other origins may not do this; ${orAllow}`);
    const user = await access.checkUser(headers.authorization, client);
    const { route } = matching;
    const parts = (matching.parts ?? []).slice(1).map(decodeURIComponent);
    if (route.method !== "GET") for (const changed of route.changes(parts)) access.checkChange(user, changed);
    const query = new URL(url, "http://host").searchParams;
    const { status = 200, type = jsonType, body } = await route.answer(parts, query);
    const content = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    await inTurn(request, () => send(response, status, type, content));
  }

  /** What is on loopback without users is for everybody on this computer, but not for the pages that they visit. */
  function refuseForeign(request: IncomingMessage): void {
    if (isByPublicName(request, allowsOrigin)) throw new HttpRefusal(403, `this server may not be used by a public name; ${orAllow}`);
    if (isPartOfForeignPage(request, allowsOrigin)) throw new HttpRefusal(403, `pages of other origins may not do this; ${orAllow}`);
  }

  /** True where a fault of the path has closed the connection. Throws where one answers in place of the stream. */
  function isAnsweredByFault(path: string, response: ServerResponse): boolean {
    for (const { fault } of faults.ofPath(path)) {
      if (fault.kind === "close") {
        response.destroy();
        return true;
      }
      if (fault.kind !== "status") continue;
      if (fault.status === 401) throw access.unauthorized(faultReason);
      // The others are of RTSP.
      if (fault.status === 404) throw new HttpRefusal(404, faultReason);
    }
    return false;
  }

  async function sendMedia(media: MediaFile, user: string | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const readerOf = (stream: Stream) => ({
      path: media.path,
      user,
      stream,
      target: pathOf(request.url ?? ""),
      userAgent: request.headers["user-agent"] ?? "",
      address: plainAddress(request.socket.remoteAddress ?? ""),
      connection: connectionOf(request),
    });
    const isHead = request.method === "HEAD";
    if (media.kind === "hls") {
      const { type, body, stream } = await hls.file(media.path, media.name);
      await inTurn(request, () => {
        if (!isHead) readers.fetched(readerOf(stream), body.length);
        // The next publisher of the path uses the same names.
        send(response, 200, type, body, { "Cache-Control": "no-cache" });
      });
      return;
    }
    const stream = await paths.open(media.path);
    if (media.kind === "snapshot") {
      const still = await snapshots.of(stream);
      await inTurn(request, () => send(response, 200, "video/mp4", still, { "Cache-Control": "no-store" }));
      return;
    }
    if (isHead) response.writeHead(200, { "Content-Type": "video/mp2t" }).end();
    else if (!response.destroyed) {
      const ofPath = { registry: faults, path: media.path, mostHeldBytes: faultBytes };
      const reader = readerOf(stream);
      const work = turns.background(reader.address);
      sendTransportStream(stream, response, transportStreams, ofPath, work, () =>
        readers.openTransportStream(reader, () => void response.destroy()),
      );
    }
  }

  function fail(error: unknown, response: ServerResponse): void {
    const { status, message, headers } = refusalOf(error);
    if (status === 500) log.error(`Management: ${errorText(error)}`);
    send(response, status, jsonType, JSON.stringify({ status: "error", error: message }), headers);
  }

  return listenTcp({
    ...listen,
    ...createBoundedServers(
      limits,
      (request, response) => {
        request.resume();
        allowReading(request, response, allowsOrigin);
        response.setHeader("X-Content-Type-Options", "nosniff");
        answer(request, response).catch((error: unknown) => fail(error, response));
      },
      turns,
    ),
  });
}

/** Streams, sessions and their addresses are nothing for pages of other origins. Those of this host may play. */
function allowReading(request: IncomingMessage, response: ServerResponse, allowsOrigin: ManagementServerOptions["allowsOrigin"]): void {
  response.setHeader("Vary", "Origin");
  const { url = "", headers } = request;
  const { origin } = headers;
  if (origin === undefined) return;
  if (allowsOrigin(origin) || (mediaFile(pathOf(url)) && isOfSameHost(request))) response.setHeader("Access-Control-Allow-Origin", origin);
}

function connectionOf({ socket }: IncomingMessage): EntryConnection {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  return {
    id: 0,
    openedAt: Date.now(),
    tls: undefined,
    isTunnel: false,
    remote: `${plainAddress(remoteAddress)}:${remotePort}`,
    local: `${plainAddress(localAddress)}:${localPort}`,
  };
}

type MediaFile =
  | { readonly kind: "hls"; readonly path: string; readonly name: string }
  | { readonly kind: "mpegts" | "snapshot"; readonly path: string };

/** "/stream/index.m3u8" and what its playlist names, "/stream/snapshot.mp4", "/stream.ts". */
function mediaFile(requested: string): MediaFile | undefined {
  const [, hlsPath, name] = /^\/(.+)\/(index\.m3u8|init(?:-\d{1,9})?\.mp4|segment-\d{1,9}\.m4s)$/.exec(requested) ?? [];
  const [, shownPath] = /^\/(.+)\/snapshot\.mp4$/.exec(requested) ?? [];
  const [, streamPath] = /^\/(.+)\.ts$/.exec(requested) ?? [];
  const path = decodedPath(hlsPath ?? shownPath ?? streamPath ?? "");
  if (path === undefined) return undefined;
  if (name !== undefined) return { kind: "hls", path, name };
  return { kind: shownPath === undefined ? "mpegts" : "snapshot", path };
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof HttpRefusal) return error;
  // The access of RTSP speaks of the same credentials; browsers and curl take Basic.
  if (error instanceof RtspRefusal) {
    const headers = error.status === 401 ? { "WWW-Authenticate": 'Basic realm="Backlot"' } : Object.fromEntries(error.headers);
    return { status: error.status, message: error.message, headers };
  }
  // A fault that cannot be started says why itself.
  if (error instanceof ServiceError) return { status: 503, message: error.message, headers: {} };
  if (error instanceof URIError) return { status: 400, message: "the path cannot be decoded", headers: {} };
  return { status: 500, message: "internal error", headers: {} };
}
