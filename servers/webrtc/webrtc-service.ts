import { webrtcProvided } from "../../contract/services/rtsp-media.ts";
import { webrtcActions } from "../../contract/services/webrtc.ts";
import { httpDefinition } from "../core/http/http-definition.ts";
import { defineService } from "../core/service/service.ts";
import { webrtcConfig } from "./webrtc-config.ts";
import { webrtcEndpoints } from "./webrtc-endpoints.ts";
import { webrtcSnippets } from "./webrtc-snippets.ts";

export const webrtcService = defineService({
  id: "webrtc",
  title: "WebRTC",
  purpose: "Signalling, rooms and chat, STUN and TURN, WHEP and WHIP",
  rateUnit: "msg/s",
  config: webrtcConfig,
  actions: webrtcActions,
  provides: webrtcProvided,
  details: {
    http: httpDefinition([]).details.http,
    "webrtc-peer": async () => (await import("./observe/webrtc-records.ts")).peerDecoder,
    "webrtc-signal": async () => (await import("./observe/webrtc-records.ts")).signalDecoder,
    "webrtc-media": async () => (await import("./media/media-recorder.ts")).mediaDecoder,
    "turn-request": async () => (await import("./observe/turn-records.ts")).turnRequestDecoder,
    "turn-allocation": async () => (await import("./observe/turn-records.ts")).turnAllocationDecoder,
  },
  ports: [
    { field: "port", transport: "tcp" },
    { field: "mediaPort", transport: "udp", isUsed: ({ media }) => media },
    { field: "turnPort", transport: "udp", isUsed: ({ turn }) => turn },
    { field: "turnPort", transport: "tcp", isUsed: ({ turn }) => turn },
    { field: "turnsPort", transport: "tcp", isUsed: ({ turn, turns }) => turn && turns },
    { field: "relayPort", transport: "udp", block: { kind: "range", lastField: "relayLastPort" }, isUsed: ({ turn }) => turn },
  ],
  keepsFiles: () => "if possible",
  async hashSecrets(values) {
    if (!Array.isArray(values.turnUsers)) return values;
    const { digestLines } = await import("../core/credentials/digest-users.ts");
    const realm = webrtcConfig.shape.turnRealm.parse(values.turnRealm);
    return { ...values, turnUsers: digestLines(values.turnUsers as readonly string[], realm) };
  },
  endpoints: webrtcEndpoints,
  snippets: webrtcSnippets,
  start: async (context) => (await import("./start-webrtc.ts")).startWebrtc(context),
  browse: {
    fields: ["turnPort", "turnsPort"],
    open: async (context) => (await import("./browse-webrtc.ts")).browseWebrtc(context),
  },
});
