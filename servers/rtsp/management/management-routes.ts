import { HttpRefusal } from "../../core/http/http-refusal.ts";
import type { Track } from "../media/track.ts";
import type { RtspSession } from "../sessions/rtsp-session.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { isPublisher, type Path, type Paths, type SourceKind } from "../streams/paths.ts";
import type { RtspMetrics } from "./rtsp-metrics.ts";

export interface ManagementAnswer {
  readonly status?: number;
  /** JSON where it is left out. */
  readonly type?: string;
  /** A text, or an object for JSON. */
  readonly body: unknown;
}

export interface ManagementRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** Its groups are the parameters. */
  readonly path: RegExp;
  readonly answer: (parts: readonly string[], query: URLSearchParams) => ManagementAnswer | Promise<ManagementAnswer>;
}

export interface ManagementParts {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly metrics: RtspMetrics;
  readonly stats: () => Readonly<Record<string, number>>;
  /** "rtsp://127.0.0.1:8554" */
  readonly rtspUrl: () => string;
}

/** As MediaMTX answers them, whose clients this stands in for: paths and sessions under /v3, and statistics of our own. */
export function managementRoutes({ paths, sessions, metrics, stats, rtspUrl }: ManagementParts): readonly ManagementRoute[] {
  const get = (path: RegExp, answer: ManagementRoute["answer"]): ManagementRoute => ({ method: "GET", path, answer });
  const pathItem = (path: Path) => describePath(path, sessions.list());
  return [
    get(/^\/$/, () => ({ type: "text/html; charset=utf-8", body: indexPage(paths.list(), rtspUrl()) })),
    get(/^\/stats\/?$/, () => ({ body: { ...stats(), paths: paths.list().map(pathItem) } })),
    get(/^\/metrics\/?$/, async () => ({ type: metrics.registry.contentType, body: await metrics.registry.metrics() })),
    get(/^\/v3\/paths\/list\/?$/, (_parts, query) => ({ body: pageOf(paths.list().map(pathItem), query) })),
    get(/^\/v3\/paths\/get\/(.+?)\/?$/, ([name = ""]) => {
      const path = paths.get(name);
      if (!path) throw new HttpRefusal(404, "path not found");
      return { body: pathItem(path) };
    }),
    get(/^\/v3\/rtspsessions\/list\/?$/, (_parts, query) => ({ body: pageOf(sessions.list().map(describeSession), query) })),
    get(/^\/v3\/rtspsessions\/get\/([^/]+)\/?$/, ([id = ""]) => ({ body: describeSession(sessionOf(sessions, id)) })),
    {
      method: "POST",
      path: /^\/v3\/rtspsessions\/kick\/([^/]+)\/?$/,
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

function pageOf<Item>(items: readonly Item[], query: URLSearchParams) {
  const number = (name: string, usual: number) => {
    const text = query.get(name);
    if (text === null) return usual;
    if (!/^\d{1,9}$/.test(text)) throw new HttpRefusal(400, `invalid ${name}`);
    return Number(text);
  };
  const itemsPerPage = Math.min(mostItems, number("itemsPerPage", 100));
  if (itemsPerPage === 0) throw new HttpRefusal(400, "invalid itemsPerPage");
  const from = number("page", 0) * itemsPerPage;
  return { itemCount: items.length, pageCount: Math.ceil(items.length / itemsPerPage), items: items.slice(from, from + itemsPerPage) };
}

const trackNames: Readonly<Record<Track["codec"], string>> = {
  h264: "H264",
  h265: "H265",
  aac: "MPEG-4 Audio",
  opus: "Opus",
  pcmu: "G711",
  pcma: "G711",
};
const sourceTypes: Readonly<Record<SourceKind, string>> = {
  clip: "file",
  publisher: "rtspSession",
  "rtmp-publisher": "rtmpConn",
  pull: "rtspSource",
};

function describePath({ name, source, since }: Path, sessions: readonly RtspSession[]) {
  const { stream } = source;
  const isOfPath = (session: RtspSession) => session.path === name;
  const publisher = sessions.find((session) => isOfPath(session) && session.state === "recording");
  return {
    name,
    confName: isPublisher(source.kind) ? "all_others" : name,
    source: { type: sourceTypes[source.kind], id: source.kind === "publisher" ? (publisher?.publicId ?? "") : source.title },
    ready: stream !== undefined,
    readyTime: stream ? new Date(since).toISOString() : null,
    tracks: stream?.tracks.map(({ codec }) => trackNames[codec]) ?? [],
    bytesReceived: stream?.counts.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0,
    bytesSent: stream?.bytesSent ?? 0,
    readers: sessions
      .filter((session) => isOfPath(session) && session.state === "playing")
      .map(({ publicId }) => ({ type: "rtspSession", id: publicId })),
  };
}

const stateNames = { ready: "idle", playing: "read", recording: "publish" } as const;

function describeSession(session: RtspSession) {
  const { received, sent } = session.mediaBytes;
  const [transport] = session.transports.values();
  return {
    id: session.publicId,
    created: new Date(session.createdAt).toISOString(),
    remoteAddr: session.address,
    state: stateNames[session.state],
    path: session.path,
    user: session.user ?? "",
    transport: transport ? (transport.connection ? "TCP" : "UDP") : null,
    bytesReceived: received,
    bytesSent: sent,
  };
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] as string);

function indexPage(paths: readonly Path[], rtspUrl: string): string {
  const rows = paths.map(({ name, source }) => {
    const url = `${rtspUrl}/${encodeURI(name)}`;
    const tracks = source.stream?.tracks.map(({ codec }) => trackNames[codec]).join(", ") ?? "not ready";
    const page = `/${encodeURI(name)}`;
    const links = `<a href="${escaped(page)}/index.m3u8">HLS</a> <a href="${escaped(page)}.ts">MPEG-TS</a>`;
    return `<tr><td><a href="${escaped(url)}">${escaped(url)}</a></td><td>${escaped(tracks)}</td><td>${links}</td></tr>`;
  });
  const links = ["/stats", "/metrics", "/v3/paths/list", "/v3/rtspsessions/list", "/faults"].map(
    (link) => `<li><a href="${link}">${link}</a></li>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Backlot RTSP</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color-scheme:light dark}td{padding:.2rem 1.5rem .2rem 0}</style></head>
<body><h1>Backlot RTSP</h1><h2>Streams</h2><table>${rows.join("")}</table>
<h2>Management</h2><ul>${links.join("")}</ul></body></html>
`;
}
