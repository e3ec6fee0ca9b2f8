import path from "node:path";
import { freePort, serverCore, startProcess } from "../harness.ts";
import { type StartedServer, startBacklotService, whenListening } from "./started-server.ts";

export type SignallingDialect = "json" | "peerjs" | "socketio";

export interface SignallingServer {
  readonly name: string;
  readonly dialects: readonly SignallingDialect[];
  start(): Promise<StartedServer>;
}

/** The rest of the service is there, with recorder, log and an open dashboard. */
export const backlot: SignallingServer = {
  name: "Backlot, WebRTC service",
  dialects: ["json", "peerjs", "socketio"],
  start: () => startBacklotService("webrtc", backlot.name, ["--webrtc-turn=false", "--webrtc-media-port", "0"]),
};

export const signallingServers: readonly SignallingServer[] = [
  { name: "peer, PeerJS' server", dialects: ["peerjs"], start: () => startPeer("signalling-peerjs.ts") },
  { name: "Socket.IO, bare", dialects: ["socketio"], start: () => startPeer("signalling-socketio.ts") },
  backlot,
];

async function startPeer(file: string): Promise<StartedServer> {
  const port = await freePort();
  const args = [path.join(import.meta.dirname, file), String(port)];
  return whenListening(startProcess({ command: process.execPath, args, core: serverCore, env: { NODE_ENV: "production" } }), port, file);
}
