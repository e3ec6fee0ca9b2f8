import type { WebrtcDialect } from "../../../../contract/traffic/webrtc.ts";

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
