/** The words that lists show for rows of WebRTC; the filter finds them. */
import type { DetailKind } from "./detail.ts";
import type { TrafficRow } from "./row.ts";
import type { WebrtcDialect } from "./webrtc.ts";

export const webrtcKindWords: Readonly<Partial<Record<DetailKind, string>>> = {
  "webrtc-peer": "Peer",
  "webrtc-signal": "Signal",
  "turn-request": "STUN, TURN",
  "turn-allocation": "Relay",
  "webrtc-media": "Media",
  http: "HTTP",
  websocket: "WebSocket",
};

export const dialectTitles: Readonly<Record<WebrtcDialect, string>> = {
  json: "JSON",
  peerjs: "PeerJS",
  socketio: "Socket.IO",
  ywebrtc: "y-webrtc",
  whep: "WHEP",
  whip: "WHIP",
  service: "Backlot",
};

/** Of a message that could not be read there is no kind. */
export const signalTitle = (kind: string): string => (kind === "bad" ? "bad message" : kind);

type Row = Pick<TrafficRow, "kind" | "verb" | "target" | "peer" | "preview" | "user" | "reason" | "peerName">;

/** What a row is of: the dialect of a peer, the transport of a relay, or what was asked. */
export function webrtcSubject({ kind, verb, preview }: Pick<Row, "kind" | "verb" | "preview">): string {
  if (kind === "webrtc-peer") return dialectTitles[verb as WebrtcDialect] ?? verb;
  if (kind === "webrtc-signal") return signalTitle(verb);
  return kind === "turn-allocation" ? preview : verb;
}

/** Credentials of TURN without the time of their end: they name a peer behind it. Undefined for other rows. */
export const turnUser = ({ kind, user = "" }: Pick<Row, "kind" | "user">): string | undefined =>
  kind === "turn-request" || kind === "turn-allocation" ? user.replace(/^\d+:/, "") : undefined;

/** Who sent it; `name` is what the peer of the credentials calls itself, where that is known. */
export const webrtcSender = ({ kind, user = "", peer }: Pick<Row, "kind" | "user" | "peer">, name?: string): string =>
  (name ?? turnUser({ kind, user }) ?? user) || (kind === "webrtc-signal" && peer === "" ? dialectTitles.service : "");

/** "over UDP: the nonce is stale" */
export const turnRequestTarget = ({ target, reason }: Pick<Row, "target" | "reason">): string =>
  `over ${target}${reason === undefined ? "" : `: ${reason}`}`;

export const inRooms = (rooms: string): string => `in ${rooms}`;

/** The cells of a row that say what it is, in their order. */
export function webrtcWords(row: Row): string {
  const { kind, target, preview, peerName = "" } = row;
  const sender = webrtcSender(row, turnUser(row) === undefined ? undefined : row.peerName);
  const to = kind === "turn-request" ? turnRequestTarget(row) : kind === "webrtc-signal" ? `${peerName} ${target}`.trim() : target;
  const rooms = kind === "webrtc-peer" && preview !== "" ? inRooms(preview) : "";
  return [webrtcKindWords[kind] ?? kind, webrtcSubject(row), sender, to, rooms].filter((cell) => cell !== "").join(" ");
}

/** All that `webrtcWords` may have besides the texts of rows. */
export const addedWebrtcWords: string = [
  ...Object.values(webrtcKindWords),
  ...Object.values(dialectTitles),
  ...["bad", ""].map(signalTitle),
  ...["UDP", "TCP", "TLS"].map((target) => turnRequestTarget({ target, reason: "" })),
  inRooms(""),
].join(" ");
