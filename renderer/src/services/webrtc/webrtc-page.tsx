import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { defineServicePage, trafficTab } from "../../pages/service/define-service-page.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { AllocationInspector } from "./allocation-inspector.tsx";
import { MediaInspector } from "./media-inspector.tsx";
import { PeerInspector } from "./peer-inspector.tsx";
import { SignalInspector } from "./signal-inspector.tsx";
import { TurnRequestInspector } from "./turn-request-inspector.tsx";
import { webrtcColumns, webrtcScopes } from "./webrtc-columns.tsx";

const { http } = httpRowCommands();

export const webrtcPage = defineServicePage({
  id: "webrtc",
  color: "--bl-s8",
  minSample: { verb: "create permission", outcome: "too-many-rooms" },
  inspectors: {
    ...(httpInspectors.http && { http: httpInspectors.http }),
    "webrtc-peer": PeerInspector,
    "webrtc-signal": SignalInspector,
    "webrtc-media": MediaInspector,
    "turn-request": TurnRequestInspector,
    "turn-allocation": AllocationInspector,
  },
  // Requests are not sent again: most of them belong to a connection that has ended.
  rowCommands: http ? { http: { target: http.target, copies: http.copies } } : {},
  tabs: [
    trafficTab({
      item: nounOf("row"),
      columns: webrtcColumns,
      scopes: webrtcScopes,
      filterPlaceholder: "Peer, room, outcome, text",
      empty: {
        nothing: "Nothing yet.",
        point: (origin) => `your client at ${origin}, or send sample traffic.`,
        watch: "peers, their messages, and the requests of STUN and TURN appear here.",
        appears: [
          ["peers", "each client from its connection to its end, with its rooms"],
          ["messages", "offers, answers, candidates and chat: from whom, to whom, as they came"],
          ["relays", "allocations of TURN with their bytes, permissions and channels"],
        ],
        command: (origin) => `echo '{"type":"join","room":"demo"}' | websocat -n ${origin}`,
      },
    }),
  ],
});
