import type { Endpoint, Snippet } from "../../contract/service.ts";

/** Commands to copy for the address where the service listens. */
export function webrtcSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = (label: string, otherwise: string) => endpoints.find((endpoint) => endpoint.label === label)?.url ?? otherwise;
  const ws = url("WS", "ws://127.0.0.1:8443/ws");
  const { origin, hostname, port: webPort } = new URL(ws);
  const http = origin.replace(/^ws/, "http");
  const [, host, port] = /^turn:(.+):(\d+)$/.exec(url("TURN", "turn:127.0.0.1:3478")) ?? [];
  return [
    { label: "websocat", language: "shell", text: `echo '{"type":"join","room":"demo","name":"me"}' | websocat -n ${ws}` },
    {
      label: "JavaScript",
      language: "javascript",
      text: `const socket = new WebSocket("${ws}");
let connection;
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "welcome") {
    connection = new RTCPeerConnection({ iceServers: message.iceServers });
    socket.send(JSON.stringify({ type: "join", room: "demo", name: "me" }));
  }
};`,
    },
    {
      label: "PeerJS",
      language: "javascript",
      text: `const iceServers = await (await fetch("${http}/ice-servers")).json();
const peer = new Peer("me", { host: "${hostname}", port: ${webPort}, path: "/", secure: false, config: { iceServers } });`,
    },
    {
      label: "Socket.IO",
      language: "javascript",
      text: `const socket = io("${http}", { auth: { room: "demo", name: "me" } });
socket.on("ice-servers", (iceServers) => {
  const connection = new RTCPeerConnection({ iceServers });
});
socket.on("signal", ({ from, sdp, candidate }) => {});`,
    },
    {
      label: "y-webrtc",
      language: "javascript",
      text: `const iceServers = await (await fetch("${http}/ice-servers")).json();
new WebrtcProvider("demo", ydoc, { signaling: ["${origin}/y-webrtc"], peerOpts: { config: { iceServers } } });`,
    },
    { label: "STUN", language: "shell", text: `turnutils_stunclient -p ${port} ${host}` },
  ];
}
