import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { allTerms } from "../../list/filter/filter-terms.ts";
import { contentTab, defineServicePage, trafficTab, tryTab } from "../../pages/service/define-service-page.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { webrtcInspectors } from "./inspectors/webrtc-row.tsx";
import { WebrtcSignals } from "./ladder/webrtc-signals.tsx";
import { WebrtcMediaSessions } from "./media/webrtc-media.tsx";
import { WebrtcRelays } from "./relays/webrtc-relays.tsx";
import { WebrtcRooms } from "./rooms/webrtc-rooms.tsx";
import { signalCopies } from "./signal-copies.ts";
import { WebrtcTry } from "./try/webrtc-try.tsx";
import { WebrtcPicks, webrtcColumns, webrtcScopes } from "./webrtc-columns.tsx";

const { http } = httpRowCommands();

const peerFaults = {
  id: "webrtc-peer-faults",
  title: "Faults of a peer",
  keywords: "drop delay duplicate reorder signals candidates refuse allocations wrong credentials",
  where: "Open a peer of the list",
};
const relayFaults = {
  id: "webrtc-relay-faults",
  title: "Faults of TURN or of a relay",
  keywords: "cut lose data delay refuse allocations quota capacity wrong credentials 486 508",
  where: "Above the list, or open a relay",
};

export const webrtcPage = defineServicePage({
  id: "webrtc",
  color: "--bl-s8",
  minSample: { verb: "create permission", outcome: "refreshed with lifetime 0" },
  inspectors: webrtcInspectors,
  rowCommands: {
    // Requests are not sent again: most of them belong to a connection that has ended.
    ...(http && { http: { target: http.target, copies: http.copies } }),
    "webrtc-peer": { target: "identifier", copies: [] },
    "webrtc-signal": { target: "receiver", copies: signalCopies },
    "webrtc-media": { target: "path", copies: [] },
    "turn-request": { target: "transport", copies: [] },
    "turn-allocation": { target: "relayed address", copies: [] },
  },
  tabs: [
    trafficTab({
      item: nounOf("row"),
      columns: webrtcColumns,
      scopes: webrtcScopes,
      Picks: WebrtcPicks,
      filterPlaceholder: "Peer, room, text",
      filterTerms: allTerms,
      details: "whole messages",
      empty: {
        nothing: "Nobody has connected yet.",
        point: (origin) => `your client at ${origin}/ws, call in Try, or send sample traffic.`,
        watch: "peers, what they signal to one another, and their requests of STUN and TURN.",
        appears: [
          ["peers", "each client with its dialect, rooms and address"],
          ["signals", "offers, answers, candidates and chat, with the description made readable"],
          ["relays", "each request of STUN and TURN, and the allocations with their bytes"],
        ],
        command: (origin) => `echo '{"type":"join","room":"demo","name":"Ada"}' | websocat -n ${origin}/ws`,
      },
    }),
    contentTab("rooms", "Rooms", WebrtcRooms, [peerFaults]),
    contentTab("signals", "Signals", WebrtcSignals),
    contentTab("relays", "Relays", WebrtcRelays, [relayFaults]),
    contentTab("media", "Media", WebrtcMediaSessions),
    tryTab(WebrtcTry),
  ],
});
