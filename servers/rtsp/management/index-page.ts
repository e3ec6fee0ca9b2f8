import type { Track } from "../media/track.ts";
import type { Path, SourceKind } from "../streams/paths.ts";

export interface IndexAddresses {
  /** "rtsp://127.0.0.1:8554" */
  readonly rtsp: string;
  readonly rtsps: string | undefined;
  readonly rtmp: string | undefined;
}

/** As MediaMTX names them. */
export const trackNames: Readonly<Record<Track["codec"], string>> = {
  h264: "H264",
  h265: "H265",
  aac: "MPEG-4 Audio",
  opus: "Opus",
  pcmu: "G711",
  pcma: "G711",
};

const sourceTexts: Readonly<Record<SourceKind, string>> = {
  clip: "looped file",
  publisher: "publisher by RTSP",
  "rtmp-publisher": "publisher by RTMP",
  "whip-publisher": "publisher by WHIP",
  pull: "pulled from",
};

const routes: readonly (readonly [route: string, text: string])[] = [
  ["/stats", "counts of the service and of each path"],
  ["/metrics", "the same for Prometheus"],
  ["/v3/paths/list", "paths; ?page=0&itemsPerPage=100. /v3/paths/get/{name} is one of them"],
  ["/v3/rtspsessions/list", "sessions; /v3/rtspsessions/get/{id} is one, POST /v3/rtspsessions/kick/{id} ends it"],
  ["/faults", "faults that are active; docs/rtsp-faults.md says how to start them"],
];

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] as string);
const link = (href: string, text = href): string => `<a href="${escaped(href)}">${escaped(text)}</a>`;
const encoded = (name: string): string => name.split("/").map(encodeURIComponent).join("/");

/** What is there: streams with a still of each, where to publish, and the routes of the management. */
export function indexPage(paths: readonly Path[], { rtsp, rtsps, rtmp }: IndexAddresses): string {
  const rows = paths.map(({ name, source: { kind, title, stream } }) => {
    const page = `/${encoded(name)}`;
    const isShown = stream !== undefined && stream.keyTrack >= 0;
    const still = isShown ? `<video src="${escaped(page)}/snapshot.mp4" muted preload="auto" aria-label="Last key frame"></video>` : "";
    const source = kind === "clip" || kind === "pull" ? `${sourceTexts[kind]} ${title}` : sourceTexts[kind];
    const tracks = stream?.tracks.map(({ codec }) => trackNames[codec]).join(", ") ?? "fetched when it is played";
    const addresses = [rtsp, ...(rtsps === undefined ? [] : [rtsps])].map((server) => link(`${server}${page}`));
    const outputs = [link(`${page}/index.m3u8`, "HLS"), link(`${page}.ts`, "MPEG-TS"), link(`${page}/snapshot.mp4`, "Still")];
    return `<tr><td>${still}</td><td>${addresses.join("<br>")}</td><td>${escaped(source)}</td><td>${escaped(tracks)}</td><td>${stream?.readers ?? 0}</td><td>${outputs.join(" ")}</td></tr>`;
  });
  const publish = [
    `${rtsp}/{path}`,
    ...(rtsps === undefined ? [] : [`${rtsps}/{path}`]),
    ...(rtmp === undefined ? [] : [`${rtmp}/{path}`]),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Backlot RTSP</title>
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem}th,td{padding:.3rem 1.5rem .3rem 0;text-align:left}video{width:128px;height:72px;background:#8883}</style></head>
<body><h1>Backlot RTSP</h1><h2>Streams</h2>
<table><tr><th></th><th>Play</th><th>Source</th><th>Tracks</th><th>Readers</th><th>Over HTTP</th></tr>
${rows.join("\n")}</table>
<h2>Publish to</h2><ul>${publish.map((address) => `<li><code>${escaped(address)}</code></li>`).join("")}</ul>
<h2>Management</h2><ul>${routes.map(([route, text]) => `<li>${link(route)}: ${escaped(text)}</li>`).join("")}</ul></body></html>
`;
}
