import type { ServiceView } from "../../../../contract/service.ts";
import type { IceServer } from "../../../../contract/services/webrtc.ts";
import { shellNote, shellQuoted } from "../../ui/copy/shells.ts";
import { endpointsOf } from "../../ui/texts/address.ts";

const kinds = {
  websocat: "websocat",
  browser: "JS",
  peerjs: "PeerJS",
  socketio: "Socket.IO",
  ywebrtc: "Yjs",
  turnutils: "TURN",
  whep: "WHEP",
  whip: "WHIP",
  gstreamer: "GStreamer",
  obs: "OBS",
} as const;
export type ClientKind = keyof typeof kinds;

/** Clients of signalling and TURN, and those that play and publish. */
export const clientGroups = {
  signalling: ["websocat", "browser", "peerjs", "socketio", "ywebrtc", "turnutils"],
  media: ["whep", "whip", "gstreamer", "obs"],
} as const satisfies Readonly<Record<string, readonly ClientKind[]>>;
export type ClientGroup = keyof typeof clientGroups;

export const clientTitle = (kind: ClientKind): string => kinds[kind];

export interface ClientPlace {
  /** `signallingHost` */
  readonly host: string;
  readonly room: string;
  /** With credentials; those of each welcome are as good. */
  readonly iceServers?: readonly IceServer[] | undefined;
}

/** "127.0.0.1:8443": where the service has signalling, WHEP and WHIP. */
export const signallingHost = (service: ServiceView | undefined): string =>
  new URL(endpointsOf(service).find(({ url }) => url.startsWith("ws://"))?.url ?? "ws://127.0.0.1:8443").host;

/** What a line needs beside the program. */
export const clientNotes = (kind: ClientKind): readonly string[] =>
  kind === "gstreamer"
    ? ["GStreamer has no candidates on loopback: open the service to the LAN in Config, also where GStreamer runs on this computer."]
    : [];

/** A client of one kind: a command, lines of JavaScript, or what to fill in. */
export function clientLine(kind: ClientKind, { host, room, iceServers = [] }: ClientPlace): string {
  const quotedRoom = JSON.stringify(room);
  const http = `http://${host}`;
  const { hostname, port } = new URL(http);
  switch (kind) {
    case "websocat":
      return `echo ${shellQuoted(JSON.stringify({ type: "join", room, name: "Ada" }))} | websocat -n ws://${host}/ws`;
    case "browser":
      return `const socket = new WebSocket("ws://${host}/ws");
const send = (message) => socket.send(JSON.stringify(message));
let connection, other;
socket.onmessage = async ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "welcome") {
    connection = new RTCPeerConnection({ iceServers: message.iceServers });
    connection.onicecandidate = ({ candidate }) => send({ type: "candidate", to: other, candidate });
    connection.ondatachannel = ({ channel }) => { channel.onmessage = ({ data }) => console.log(data); };
    send({ type: "join", room: ${quotedRoom}, name: "Ada" });
  } else if (message.type === "peer-joined") {
    // Who is there already calls the one that comes.
    other = message.id;
    const channel = connection.createDataChannel("chat");
    channel.onopen = () => channel.send("hello");
    await connection.setLocalDescription();
    send({ type: "offer", to: other, sdp: connection.localDescription.sdp });
  } else if (message.type === "offer" || message.type === "answer") {
    other = message.from;
    await connection.setRemoteDescription({ type: message.type, sdp: message.sdp });
    if (message.type === "answer") return;
    await connection.setLocalDescription();
    send({ type: "answer", to: other, sdp: connection.localDescription.sdp });
  } else if (message.type === "candidate") await connection.addIceCandidate(message.candidate);
};`;
    case "peerjs":
      return `// npm install peerjs
import { Peer } from "peerjs";
const iceServers = await (await fetch("${http}/ice-servers")).json();
const options = { host: "${hostname}", port: ${port}, path: "/", key: ${quotedRoom}, secure: false, config: { iceServers } };
const ada = new Peer("ada", options);
ada.on("connection", (connection) => connection.on("data", console.log));
// In another page:
const bob = new Peer("bob", options);
bob.on("open", () => {
  const connection = bob.connect("ada");
  connection.on("open", () => connection.send("hello"));
});`;
    case "socketio":
      return `// npm install socket.io-client
import { io } from "socket.io-client";
const socket = io("${http}", { auth: { room: ${quotedRoom}, name: "Ada" } });
let connection, other;
socket.on("ice-servers", (iceServers) => {
  connection = new RTCPeerConnection({ iceServers });
  connection.onicecandidate = ({ candidate }) => candidate && socket.emit("signal", { to: other, candidate });
});
socket.on("peer-joined", async ({ id }) => {
  // Who is there already calls the one that comes.
  other = id;
  connection.createDataChannel("chat").onopen = () => console.log("connected");
  await connection.setLocalDescription();
  socket.emit("signal", { to: other, sdp: connection.localDescription });
});
socket.on("signal", async ({ from, sdp, candidate }) => {
  other = from;
  if (candidate) return connection.addIceCandidate(candidate);
  await connection.setRemoteDescription(sdp);
  if (sdp.type === "answer") return;
  await connection.setLocalDescription();
  socket.emit("signal", { to: other, sdp: connection.localDescription });
});`;
    case "ywebrtc":
      return `// npm install yjs y-webrtc
import { WebrtcProvider } from "y-webrtc";
import * as Y from "yjs";
const iceServers = await (await fetch("${http}/ice-servers")).json();
const provider = new WebrtcProvider(${quotedRoom}, new Y.Doc(), {
  signaling: ["ws://${host}/y-webrtc"],
  peerOpts: { config: { iceServers } },
});`;
    case "turnutils":
      return turnLine(iceServers);
    case "whep":
      return `const connection = new RTCPeerConnection();
for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
const video = document.body.appendChild(document.createElement("video"));
video.autoplay = video.muted = video.controls = true;
connection.ontrack = ({ streams: [stream] }) => { video.srcObject = stream; };
${exchange(`${http}/whep/test`)}`;
    case "whip":
      return `const connection = new RTCPeerConnection();
const stream = await navigator.mediaDevices.getUserMedia({ video: true, audio: true });
for (const track of stream.getTracks()) connection.addTransceiver(track, { direction: "sendonly", streams: [stream] });
${exchange(`${http}/whip/mine`)}
// Everybody may play it now: ${http}/whep/mine`;
    case "gstreamer":
      return `${shellNote("With the plugins in Rust (gst-plugins-rs)")}
gst-launch-1.0 videotestsrc is-live=true ! whipclientsink video-caps=video/x-h264 signaller::whip-endpoint=${http}/whip/mine`;
    case "obs":
      return `Settings, Stream
  Service        WHIP
  Server         ${http}/whip/mine
  Bearer Token   empty, or user:password of the RTSP service

Settings, Output
  Video Encoder  one for H.264
  Audio Encoder  Opus`;
    default:
      return kind satisfies never;
  }
}

/** Offer and answer of WHEP and WHIP. */
const exchange = (url: string): string => `await connection.setLocalDescription();
const response = await fetch("${url}", {
  method: "POST",
  headers: { "Content-Type": "application/sdp" },
  body: connection.localDescription.sdp,
});
if (!response.ok) throw new Error(await response.text());
await connection.setRemoteDescription({ type: "answer", sdp: await response.text() });`;

/** coturn's test client, which relays to a peer of its own on loopback. */
function turnLine(iceServers: readonly IceServer[]): string {
  const server = iceServers.find(({ urls }) => urls.some((url) => url.startsWith("turn:")));
  const url = server?.urls.find((one) => one.startsWith("turn:")) ?? "turn:127.0.0.1:3478";
  const [, host, port] = /^turn:(.+?):(\d+)/.exec(url) ?? [url, "127.0.0.1", "3478"];
  const user = shellQuoted(server?.username ?? "USER");
  const password = shellQuoted(server?.credential ?? "PASSWORD");
  return `turnutils_uclient -y -n 100 -u ${user} -w ${password} -p ${port} ${host}`;
}
