import { rtspActions, rtspBinary } from "../../contract/services/rtsp.ts";
import { rtspProvided } from "../../contract/services/rtsp-media.ts";
import { defineService } from "../core/service/service.ts";
import { rtspConfig } from "./rtsp-config.ts";
import { rtspEndpoints } from "./rtsp-endpoints.ts";
import { rtspSnippets } from "./rtsp-snippets.ts";
import { multicastPortCount } from "./sessions/multicast-groups.ts";
import { realm } from "./sessions/path-rules.ts";

export const rtspService = defineService({
  id: "rtsp",
  title: "RTSP",
  purpose: "Two test streams with H.264 and AAC, publishing over TCP and UDP",
  rateUnit: "Mbit/s",
  config: rtspConfig,
  actions: rtspActions,
  binary: rtspBinary,
  provides: rtspProvided,
  details: { rtsp: async () => (await import("./observe/session-record.ts")).sessionDecoder },
  ports: [
    { field: "port", transport: "tcp" },
    { field: "httpPort", transport: "tcp" },
    { field: "tlsPort", transport: "tcp", isUsed: ({ tls }) => tls },
    { field: "rtmpPort", transport: "tcp", isUsed: ({ rtmp }) => rtmp },
    { field: "rtpPort", transport: "udp", block: { kind: "pair" }, isUsed: ({ udp }) => udp },
    {
      field: "multicastPort",
      transport: "udp",
      block: { kind: "destinations", count: multicastPortCount },
      isUsed: ({ multicast }) => multicast,
    },
  ],
  keepsFiles: () => "if possible",
  async hashSecrets(values) {
    if (!Array.isArray(values.users)) return values;
    const { digestLines } = await import("../core/credentials/digest-users.ts");
    return { ...values, users: digestLines(values.users as readonly string[], realm) };
  },
  endpoints: rtspEndpoints,
  snippets: rtspSnippets,
  start: async (context) => (await import("./start-rtsp.ts")).startRtsp(context),
});
