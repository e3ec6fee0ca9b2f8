import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { RtspSession } from "../sessions/rtsp-session.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { isPublisher, type Path, type Paths, type SourceKind } from "../streams/paths.ts";
import { type IndexAddresses, indexPage, trackNames } from "./index-page.ts";
import type { RtspMetrics } from "./rtsp-metrics.ts";

export interface ManagementAnswer {
  readonly status?: number;
  /** JSON where it is left out. */
  readonly type?: string;
  /** A text, its bytes, or an object for JSON. */
  readonly body: unknown;
}

export type ManagementRoute = RouteAnswer &
  (
    | { readonly method: "GET" }
    | {
        readonly method: "POST" | "DELETE";
        /** The names of the paths that the user must have the right to publish. */
        readonly changes: (parts: readonly string[]) => readonly string[];
      }
  );

interface RouteAnswer {
  /** Its groups are the parameters. */
  readonly path: RegExp;
  readonly answer: (parts: readonly string[], query: URLSearchParams) => ManagementAnswer | Promise<ManagementAnswer>;
}

export interface ManagementParts {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly metrics: RtspMetrics;
  readonly stats: () => Readonly<Record<string, number>>;
  readonly addresses: () => IndexAddresses;
  /** Address and port of a client. */
  readonly remoteOf: (session: RtspSession) => string;
}

/** As MediaMTX answers them, whose clients this stands in for: paths and sessions under /v3, and statistics of our own. */
export function managementRoutes({ paths, sessions, metrics, stats, addresses, remoteOf }: ManagementParts): readonly ManagementRoute[] {
  const get = (path: RegExp, answer: RouteAnswer["answer"]): ManagementRoute => ({ method: "GET", path, answer });
  const sessionItem = (session: RtspSession) => describeSession(session, remoteOf(session));
  /** One pass over the sessions for all paths of an answer. */
  const pathItems = (asked: readonly Path[]) => {
    const ofPaths = Map.groupBy(sessions.list(), ({ path }) => path);
    return asked.map((path) => describePath(path, ofPaths.get(path.name) ?? []));
  };
  return [
    get(/^\/$/, () => ({ type: "text/html; charset=utf-8", body: indexPage(paths.list(), addresses()) })),
    get(/^\/stats\/?$/, () => ({ body: { ...stats(), paths: pathItems(paths.list()) } })),
    get(/^\/metrics\/?$/, async () => ({ type: metrics.registry.contentType, body: await metrics.text.read() })),
    get(/^\/v3\/paths\/list\/?$/, (_parts, query) => ({ body: pageOf(paths.list(), query, pathItems) })),
    get(/^\/v3\/paths\/get\/(.+?)\/?$/, ([name = ""]) => {
      const path = paths.get(name);
      if (!path) throw new HttpRefusal(404, "path not found");
      return { body: pathItems([path])[0] };
    }),
    get(/^\/v3\/rtspsessions\/list\/?$/, (_parts, query) => ({ body: pageOf(sessions.list(), query, (page) => page.map(sessionItem)) })),
    get(/^\/v3\/rtspsessions\/get\/([^/]+)\/?$/, ([id = ""]) => ({ body: sessionItem(sessionOf(sessions, id)) })),
    {
      method: "POST",
      path: /^\/v3\/rtspsessions\/kick\/([^/]+)\/?$/,
      changes: ([id = ""]) => [sessionOf(sessions, id).path],
      answer([id = ""]) {
        sessionOf(sessions, id).end("closed by the management", "server");
        return { body: { status: "ok" } };
      },
    },
  ];
}

/** Of its public identifier. Throws an HttpRefusal of 404. */
export function sessionOf(sessions: Pick<SessionTable, "list">, id: string): RtspSession {
  const session = sessions.list().find(({ publicId }) => publicId === id);
  if (!session) throw new HttpRefusal(404, "session not found");
  return session;
}

const mostItems = 1_000;

/** `describe` gets those of the page alone. */
function pageOf<Item>(items: readonly Item[], query: URLSearchParams, describe: (page: readonly Item[]) => readonly object[]) {
  const number = (name: string, usual: number) => {
    const text = query.get(name);
    if (text === null) return usual;
    if (!/^\d{1,9}$/.test(text)) throw new HttpRefusal(400, `invalid ${name}`);
    return Number(text);
  };
  const itemsPerPage = Math.min(mostItems, number("itemsPerPage", 100));
  if (itemsPerPage === 0) throw new HttpRefusal(400, "invalid itemsPerPage");
  const from = number("page", 0) * itemsPerPage;
  return {
    itemCount: items.length,
    pageCount: Math.ceil(items.length / itemsPerPage),
    items: describe(items.slice(from, from + itemsPerPage)),
  };
}

const sourceTypes: Readonly<Record<SourceKind, string>> = {
  clip: "file",
  publisher: "rtspSession",
  "rtmp-publisher": "rtmpConn",
  "whip-publisher": "webRTCSession",
  pull: "rtspSource",
};

/** `sessions` are those of the path. */
function describePath({ name, source, since }: Path, sessions: readonly RtspSession[]) {
  const { stream } = source;
  const publisher = sessions.find(({ state }) => state === "recording");
  return {
    name,
    confName: isPublisher(source.kind) ? "all_others" : name,
    ready: stream !== undefined,
    readyTime: stream ? new Date(since).toISOString() : null,
    source: { type: sourceTypes[source.kind], id: source.kind === "publisher" ? (publisher?.publicId ?? "") : source.title },
    tracks: stream?.tracks.map(({ codec }) => trackNames[codec]) ?? [],
    readers: sessions.filter(({ state }) => state === "playing").map(({ publicId }) => ({ type: "rtspSession", id: publicId })),
    bytesReceived: stream?.counts.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0,
    bytesSent: stream?.bytesSent ?? 0,
  };
}

const stateNames = { ready: "idle", playing: "read", recording: "publish" } as const;

function describeSession(session: RtspSession, remoteAddr: string) {
  const { received, sent } = session.mediaBytes;
  const [transport] = session.transports.values();
  return {
    id: session.publicId,
    created: new Date(session.createdAt).toISOString(),
    remoteAddr,
    state: stateNames[session.state],
    path: session.path,
    user: session.user ?? "",
    transport: transport ? (transport.connection ? "TCP" : "UDP") : null,
    bytesReceived: received,
    bytesSent: sent,
  };
}
