import type { ServiceView } from "../../../../contract/service.ts";
import type { IceServer } from "../../../../contract/services/webrtc.ts";
import { shellQuoted } from "../../ui/copy/copy-text.ts";
import { endpointsOf } from "../../ui/texts/address.ts";

export const clientKinds = [
  { value: "websocat", label: "websocat" },
  { value: "browser", label: "JS" },
  { value: "peerjs", label: "PeerJS" },
  { value: "socketio", label: "Socket.IO" },
  { value: "ywebrtc", label: "Yjs" },
  { value: "turnutils", label: "TURN" },
] as const;
export type ClientKind = (typeof clientKinds)[number]["value"];

export interface ClientPlace {
  readonly service: ServiceView | undefined;
  readonly room: string;
  /** With credentials; those of each welcome are as good. */
  readonly iceServers?: readonly IceServer[] | undefined;
}

const usualPort = "8443";

/** Host and port of signalling. */
function placeOf(service: ServiceView | undefined): { readonly host: string; readonly port: string } {
  const url = endpointsOf(service).find((endpoint) => endpoint.url.startsWith("ws://"))?.url;
  const { hostname, port } = new URL(url ?? `ws://127.0.0.1:${usualPort}`);
  return { host: hostname, port: port || usualPort };
}

/** A client of one dialect: a command, or lines of JavaScript. */
export function clientLine(kind: ClientKind, { service, room, iceServers = [] }: ClientPlace): string {
  const { host, port } = placeOf(service);
  const quotedRoom = JSON.stringify(room);
  switch (kind) {
    case "websocat":
      return `echo ${shellQuoted(JSON.stringify({ type: "join", room, name: "Ada" }))} | websocat -n ws://${host}:${port}/ws`;
    case "browser":
      return `const socket = new WebSocket("ws://${host}:${port}/ws");
const connection = new RTCPeerConnection({ iceServers: ${JSON.stringify(iceServers, undefined, 2)} });
const send = (message) => socket.send(JSON.stringify(message));
let other;
connection.onicecandidate = ({ candidate }) => other && send({ type: "candidate", to: other, candidate });
socket.onmessage = async ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "welcome") send({ type: "join", room: ${quotedRoom}, name: "Ada" });
  if (message.type === "offer" || message.type === "answer") {
    other = message.from;
    await connection.setRemoteDescription({ type: message.type, sdp: message.sdp });
    if (message.type === "answer") return;
    await connection.setLocalDescription();
    send({ type: "answer", to: other, sdp: connection.localDescription.sdp });
  }
  if (message.type === "candidate") await connection.addIceCandidate(message.candidate);
  if (message.type === "peer-joined") {
    other = message.id;
    connection.createDataChannel("chat");
    await connection.setLocalDescription();
    send({ type: "offer", to: other, sdp: connection.localDescription.sdp });
  }
};`;
    case "peerjs":
      return `// npm install peerjs
const peer = new Peer("ada", { host: "${host}", port: ${port}, path: "/", secure: false });
peer.on("connection", (connection) => connection.on("data", console.log));
// In another page: new Peer({ host: "${host}", port: ${port}, path: "/" }).connect("ada")`;
    case "socketio":
      return `// npm install socket.io-client
import { io } from "socket.io-client";
const socket = io("http://${host}:${port}");
socket.on("signal", ({ from, sdp, candidate }) => console.log(from, sdp ?? candidate));
socket.emit("signal", { sdp: connection.localDescription });`;
    case "ywebrtc":
      return `// npm install yjs y-webrtc
import { WebrtcProvider } from "y-webrtc";
import * as Y from "yjs";
const provider = new WebrtcProvider(${quotedRoom}, new Y.Doc(), { signaling: ["ws://${host}:${port}/y-webrtc"] });`;
    case "turnutils":
      return turnLine(iceServers);
    default:
      return kind satisfies never;
  }
}

/** coturn's test client, which relays to a peer of its own on loopback. */
function turnLine(iceServers: readonly IceServer[]): string {
  const server = iceServers.find(({ urls }) => urls.some((url) => url.startsWith("turn:")));
  const url = server?.urls.find((one) => one.startsWith("turn:")) ?? "turn:127.0.0.1:3478";
  const [, host, port] = /^turn:(.+?):(\d+)/.exec(url) ?? [url, "127.0.0.1", "3478"];
  const user = shellQuoted(server?.username ?? "USER");
  const password = shellQuoted(server?.credential ?? "PASSWORD");
  return `turnutils_uclient -y -n 100 -u ${user} -w ${password} -p ${port} ${host}`;
}
