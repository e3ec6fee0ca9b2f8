import type { FaultStatus } from "../../../contract/services/rtsp-faults.ts";
import { parseSdp, SdpError, writeSdp } from "../../core/rtp/sdp.ts";
import type { Faults } from "../faults/faults.ts";
import { writeWrongSdp } from "../faults/wrong-description.ts";
import {
  parseTarget,
  type RtspTarget,
  rangeUnitOf,
  sessionIdOf,
  withoutEndSlashes,
  writeRtpInfo,
  writeSession,
} from "../protocol/header-fields.ts";
import { aggregateAttributes, type DescribedTrack, describeTrack, trackOfMedia, UnsupportedMedia } from "../protocol/media-description.ts";
import { type HeaderFields, headerOf, headersOf, RtspRefusal, type RtspRequest } from "../protocol/message.ts";
import { parseTransport, writeTransport } from "../protocol/transport-header.ts";
import type { Paths } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";
import type { Access } from "./access.ts";
import { Announcement } from "./announcement.ts";
import { chooseTransport, openTransport, type TransportConnection } from "./choose-transport.ts";
import { memoryReason, type RtspSession, type SessionLimits, type SessionMedia } from "./rtsp-session.ts";
import type { SessionTable } from "./session-table.ts";

/** An answer, and what begins after it was written. */
export interface RequestAnswer {
  readonly status?: 200;
  readonly headers: HeaderFields;
  readonly body?: Buffer;
  readonly after?: () => void;
}

/** What the handlers need of the connection of a request. */
export interface RequestConnection extends TransportConnection {
  /** False once it is closed: nothing that is opened for it would be released. */
  readonly isOpen: boolean;
  /** Address and port of the server. */
  readonly local: string;
  /** What was announced on it, until it is set up. */
  announced: Announcement | undefined;
  /** The request belongs to the session. */
  uses(session: RtspSession): void;
  /** Closes it without another byte. */
  destroy(): void;
  /** The same, with the reason for its row. */
  lose(reason: string): void;
}

/** What a SETUP is for. */
interface SetUpTrack {
  readonly path: string;
  readonly user: string | undefined;
  readonly track: number;
  readonly media: SessionMedia;
}

export interface HandlerParts {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly access: Access;
  readonly faults: Faults;
  readonly limits: SessionLimits & { readonly tracks: number };
}

const methods = [
  "OPTIONS",
  "DESCRIBE",
  "ANNOUNCE",
  "SETUP",
  "PLAY",
  "PAUSE",
  "RECORD",
  "TEARDOWN",
  "GET_PARAMETER",
  "SET_PARAMETER",
] as const;
const publicMethods = ["Public", methods.join(", ")] as const;
/** Methods of a server to its client (RFC 2326 §10). */
const clientMethods = new Set(["REDIRECT"]);

/** Answers the requests of all connections. An RtspRefusal that is thrown is the answer. */
export function createRequestHandler({ paths, sessions, access, faults, limits }: HandlerParts) {
  function answer(received: RtspRequest, connection: RequestConnection): RequestAnswer | Promise<RequestAnswer> {
    const request = withAbsoluteUri(received, connection);
    checkFaults(request, connection);
    if (request.version !== "RTSP/1.0") throw new RtspRefusal(505, `${request.version} is not spoken here`);
    const required = [...headersOf(request.headers, "Require"), ...headersOf(request.headers, "Proxy-Require")];
    if (required.length > 0) throw new RtspRefusal(551, `${required.join(", ")} is required`, [["Unsupported", required.join(", ")]]);
    switch (request.method) {
      case "OPTIONS":
        return options(request, connection);
      case "DESCRIBE":
        return describe(request, connection);
      case "ANNOUNCE":
        return announce(request, connection);
      case "SETUP":
        return setUp(request, connection);
      case "PLAY":
        return play(request, connection);
      case "PAUSE":
        return pause(request, connection);
      case "RECORD":
        return record(request, connection);
      case "TEARDOWN":
        return tearDown(request, connection);
      case "GET_PARAMETER":
      case "SET_PARAMETER":
        return parameters(request, connection);
      default:
        throw clientMethods.has(request.method)
          ? new RtspRefusal(405, `${request.method} is not for a server`, [["Allow", methods.join(", ")]])
          : new RtspRefusal(501, `there is no method ${request.method}`, [publicMethods]);
    }
  }

  /** Throws what a fault of the path or session answers in place of the handler. */
  function checkFaults(request: RtspRequest, connection: RequestConnection): void {
    if (faults.isQuiet) return;
    const named = sessions.get(sessionIdOf(headerOf(request.headers, "Session") ?? "") ?? "");
    const session = named?.address === connection.address ? named : undefined;
    const { announced } = connection;
    const target = announced?.announced.target;
    const path = target && isBelow(request.uri, target.base) ? target.path : parseTarget(request.uri)?.path;
    const active = session ? faults.of(session) : path === undefined ? [] : faults.ofPath(path);
    for (const { fault } of active) {
      if (fault.kind === "close") {
        connection.destroy();
        throw new RtspRefusal(503, "a fault closed the connection");
      }
      if (fault.kind === "status" && isAnsweredWith(fault.status, request))
        throw fault.status === 401 ? access.unauthorized(faultReason) : new RtspRefusal(fault.status, faultReason);
    }
  }

  function targetOf(request: RtspRequest): RtspTarget {
    const target = parseTarget(request.uri);
    if (!target) throw new RtspRefusal(400, "the URI is not that of a stream");
    return target;
  }

  const authorize = (request: RtspRequest, path: string, right: "read" | "publish", connection: RequestConnection) =>
    access.check({
      method: request.method,
      path,
      right,
      client: { address: connection.address, connection, hasLeft: () => !connection.isOpen },
      authorization: headerOf(request.headers, "Authorization"),
    });

  /** After each wait. The refusal reaches nobody. */
  function checkOpen({ isOpen }: RequestConnection): void {
    if (!isOpen) throw new RtspRefusal(503, "the connection was closed meanwhile");
  }

  /** The session that the request names, if it names one. */
  function namedSession(request: RtspRequest, connection: RequestConnection): RtspSession | undefined {
    const header = headerOf(request.headers, "Session");
    // Some clients send the field before they have a session.
    if (header === undefined || header === "") return undefined;
    const session = sessions.get(sessionIdOf(header) ?? "");
    // A session of another computer is as good as unknown.
    if (!session || session.address !== connection.address) throw new RtspRefusal(454, "there is no such session");
    session.touch();
    connection.uses(session);
    return session;
  }

  function neededSession(request: RtspRequest, connection: RequestConnection): RtspSession {
    const session = namedSession(request, connection);
    if (!session) throw new RtspRefusal(454, "the request names no session");
    return session;
  }

  const sessionHeader = (session: RtspSession) => ["Session", writeSession(session.id, limits.timeoutMs / 1_000)] as const;

  function options(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    if (request.uri !== "*") targetOfServer(request.uri);
    const session = namedSession(request, connection);
    return { headers: [publicMethods, ...(session ? [sessionHeader(session)] : [])] };
  }

  async function describe(request: RtspRequest, connection: RequestConnection): Promise<RequestAnswer> {
    const { path, base } = targetOf(request);
    const accepted = headerOf(request.headers, "Accept") ?? "application/sdp";
    if (!/application\/(?:sdp|\*)|\*\/\*/i.test(accepted)) throw new RtspRefusal(406, `a description is application/sdp, not ${accepted}`);
    await authorize(request, path, "read", connection);
    const stream = await paths.open(path);
    const description = {
      id: stream.id,
      version: stream.version,
      host: connection.localAddress,
      name: path,
      attributes: aggregateAttributes,
      media: stream.tracks.map(describeTrack),
    };
    const wrong = faults.ofPath(path).find(({ fault }) => fault.kind === "description")?.fault;
    const body = wrong?.kind === "description" ? writeWrongSdp(description, wrong.flaw) : writeSdp(description);
    const headers = [["Content-Base", `${base}/`] as const, ["Content-Type", "application/sdp"] as const];
    return { headers, body: Buffer.from(body) };
  }

  async function announce(request: RtspRequest, connection: RequestConnection): Promise<RequestAnswer> {
    const target = targetOf(request);
    const type = headerOf(request.headers, "Content-Type") ?? "application/sdp";
    if (!/^application\/sdp\b/i.test(type)) throw new RtspRefusal(415, `a description is application/sdp, not ${type}`);
    if (namedSession(request, connection)) throw new RtspRefusal(455, "the session exists already");
    const user = await authorize(request, target.path, "publish", connection);
    checkOpen(connection);
    const tracks = readTracks(request.body, limits.tracks);
    paths.checkPublish(target.path, connection.address);
    const lose = () => connection.lose(memoryReason);
    connection.announced?.release();
    connection.announced = new Announcement({ target, user, tracks }, request.body.length, limits.media, connection.address, lose);
    return { headers: [] };
  }

  async function setUp(request: RtspRequest, connection: RequestConnection): Promise<RequestAnswer> {
    const headers = headersOf(request.headers, "Transport");
    if (headers.length === 0) throw new RtspRefusal(400, "SETUP needs a Transport header");
    const offers = parseTransport(headers.join(","));
    const named = namedSession(request, connection);
    if (named && named.state !== "ready") throw new RtspRefusal(455, `the session is ${named.state}`);
    const found = await setUpTrack(request, connection, named);
    checkOpen(connection);
    // The session may have ended while a stream was opened.
    if (named?.isEnded) throw new RtspRefusal(454, "the session has ended");
    const { track, media, path, user } = found;
    const chosen = chooseTransport(offers, found, named, connection, (ports) => sessions.endAbandoned(connection.address, ports));
    if (chosen.kind === "tcp" && named?.isCarriedElsewhere(connection)) throw new RtspRefusal(461, "the session has another connection");
    const session = named ?? sessions.open(media, { path, user, address: connection.address, limits, paths, faults });
    if (!named) {
      connection.uses(session);
      connection.announced = undefined;
    }
    session.transports.get(track)?.release();
    const ssrc = media.role === "read" ? media.stream.packetizers[track]?.ssrc : undefined;
    const transport = openTransport(chosen, { track, session, ssrc }, connection);
    session.setUp(track, transport);
    return { headers: [sessionHeader(session), ["Transport", writeTransport(transport.answer)]] };
  }

  async function setUpTrack(request: RtspRequest, connection: RequestConnection, named: RtspSession | undefined): Promise<SetUpTrack> {
    const { announced } = connection;
    if (named?.media.role === "publish") {
      const { path, user, media } = named;
      return { path, user, media, track: publishedTrack(request.uri, named.media.tracks, named.media.base) };
    }
    if (!named && announced && isBelow(request.uri, announced.announced.target.base)) {
      const { target, user, tracks } = announced.announced;
      const media = { role: "publish", tracks, base: target.base, announcement: announced } as const;
      return { path: target.path, user, media, track: publishedTrack(request.uri, tracks, target.base) };
    }
    const { path, track } = targetOf(request);
    if (named && named.path !== path) throw new RtspRefusal(459, `the session is for ${named.path}`);
    const user = await authorize(request, path, "read", connection);
    const media = named?.media ?? { role: "read", stream: await paths.open(path) };
    return { path, user, media, track: playedTrack(track, media.role === "read" ? media.stream : undefined) };
  }

  function playedTrack(track: number | undefined, stream: Stream | undefined): number {
    const count = stream?.tracks.length ?? 0;
    if (track === undefined && count > 1) throw new RtspRefusal(459, "a track is set up, not the whole stream");
    if ((track ?? 0) >= count) throw new RtspRefusal(404, `there is no track ${track ?? 0}`);
    return track ?? 0;
  }

  function play(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    const session = neededSession(request, connection);
    const target = wholeSession(request, session);
    const range = headerOf(request.headers, "Range");
    if (range !== undefined && rangeUnitOf(range) === undefined) throw new RtspRefusal(457, `${range} is not a range`);
    const { media } = session;
    if (media.role !== "read") throw new RtspRefusal(455, "the session publishes");
    const infos = [...session.transports.keys()].map((track) => ({
      url: `${target.base}/trackID=${track}`,
      ...media.stream.positionOf(track),
    }));
    return {
      headers: [sessionHeader(session), ["Range", "npt=now-"], ...normalSpeed(request), ["RTP-Info", writeRtpInfo(infos)]],
      after: () => session.play(),
    };
  }

  function pause(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    const session = neededSession(request, connection);
    wholeSession(request, session);
    session.pause();
    return { headers: [sessionHeader(session)] };
  }

  function record(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    const session = neededSession(request, connection);
    const { media } = session;
    if (media.role !== "publish") throw new RtspRefusal(455, "the session plays");
    const missing = media.tracks.length - session.transports.size;
    if (missing > 0) throw new RtspRefusal(455, `${missing} of the announced tracks are not set up`);
    session.record();
    return { headers: [sessionHeader(session)] };
  }

  function tearDown(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    const session = neededSession(request, connection);
    const track = session.media.role === "read" ? parseTarget(request.uri)?.track : undefined;
    if (track !== undefined && !session.transports.has(track)) throw new RtspRefusal(404, `track ${track} is not set up`);
    if (track !== undefined && session.transports.size > 1) {
      session.tearDown(track);
      return { headers: [sessionHeader(session)] };
    }
    return { headers: [], after: () => session.end("TEARDOWN", "client") };
  }

  function parameters(request: RtspRequest, connection: RequestConnection): RequestAnswer {
    const session = namedSession(request, connection);
    // Empty ones keep a session alive (RFC 2326 §10.8); others there are none.
    if (request.body.toString("latin1").trim() !== "") throw new RtspRefusal(451, "there are no parameters here");
    return { headers: session ? [sessionHeader(session)] : [] };
  }

  return answer;
}

export type RequestHandler = ReturnType<typeof createRequestHandler>;

/** The URI of an operation on a whole session; a session of one track may be named by it. */
function wholeSession(request: RtspRequest, session: RtspSession): RtspTarget {
  const { media, path } = session;
  if (media.role === "publish") {
    if (!isBelow(request.uri, media.base)) throw new RtspRefusal(404, `the session is for ${path}`);
    return { path, base: media.base };
  }
  const target = parseTarget(request.uri);
  if (target?.path !== path) throw new RtspRefusal(404, `the session is for ${path}`);
  if (target.track !== undefined && session.transports.size > 1) throw new RtspRefusal(460, "the tracks of the session play together");
  return target;
}

/** RFC 2326 §6.1 asks for an absolute URI, but some clients send the path alone, as in HTTP. */
const withAbsoluteUri = (request: RtspRequest, { local }: RequestConnection): RtspRequest =>
  request.uri.startsWith("/") ? { ...request, uri: `rtsp://${local}${request.uri}` } : request;

/** §12.34: a request with a scale is told the one that was taken; a live stream has one only. */
const normalSpeed = ({ headers }: RtspRequest): HeaderFields =>
  ["Scale", "Speed"].flatMap((name) => (headerOf(headers, name) === undefined ? [] : [[name, "1.0"] as const]));

const faultReason = "a fault that was started on demand";

/** Which requests a fault with a status is about. */
function isAnsweredWith(status: FaultStatus, { method, headers }: RtspRequest): boolean {
  switch (status) {
    case 401:
    case 404:
      return method !== "OPTIONS";
    case 454:
      return headerOf(headers, "Session") !== undefined;
    case 461:
      return method === "SETUP";
    default:
      return status satisfies never;
  }
}

const withoutQuery = (uri: string): string => withoutEndSlashes(uri.split(/[?#]/, 1)[0] as string);

/** Whether it is the URI of the path or of something in it. Clients write the host in other ways than they announced it. */
function isBelow(uri: string, base: string): boolean {
  const pathOf = (text: string) => withoutQuery(text).replace(/^rtsps?:\/\/[^/]*/i, "");
  return pathOf(uri) === pathOf(base) || pathOf(uri).startsWith(`${pathOf(base)}/`);
}

/** The announced track whose control attribute the URI ends with (RFC 2326 appendix C.1.1). */
function publishedTrack(uri: string, tracks: readonly DescribedTrack[], base: string): number {
  const wanted = withoutQuery(uri);
  if (tracks.length === 1 && wanted === withoutQuery(base)) return 0;
  const found = tracks.findIndex(({ control }) => {
    const own = withoutEndSlashes(control);
    return own === wanted || uri === control || wanted.endsWith(`/${own}`) || uri.endsWith(`/${control}`);
  });
  if (found < 0) throw new RtspRefusal(404, "no announced track has this URI as its control");
  return found;
}

/** Throws an RtspRefusal of 400 or 415. */
function readTracks(body: Buffer, most: number): readonly DescribedTrack[] {
  try {
    const { media } = parseSdp(body.toString("utf8"));
    if (media.length === 0) throw new SdpError("it has no media");
    if (media.length > most) throw new SdpError(`it has more than ${most} media`);
    return media.map(trackOfMedia);
  } catch (error) {
    if (error instanceof SdpError) throw new RtspRefusal(400, `the description is wrong: ${error.message}`);
    if (error instanceof UnsupportedMedia) throw new RtspRefusal(415, error.message);
    throw error;
  }
}

function targetOfServer(uri: string): void {
  if (!/^rtsp[su]?:\/\/[^\s/]+/i.test(uri)) throw new RtspRefusal(400, "the URI is not one of RTSP");
}
