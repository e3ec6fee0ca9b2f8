import { allTerms } from "../../list/filter/filter-terms.ts";
import { contentTab, defineServicePage, trafficTab, tryTab } from "../../pages/service/define-service-page.ts";
import type { PageCommand } from "../../ui/commands.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { PicturesStrip } from "./picture/pictures-strip.tsx";
import { rtspColumns, sessionScopes } from "./rtsp-columns.tsx";
import { pathsCommands, RtspPaths } from "./rtsp-paths.tsx";
import { playerCopies, RtspSessionInspector } from "./rtsp-session-inspector.tsx";
import { RtspTry } from "./try/rtsp-try.tsx";

const faultsOf = (what: "path" | "session"): PageCommand => ({
  id: `rtsp-${what}-faults`,
  title: `Faults of a ${what}`,
  keywords: "lose packets delay answers jitter reorder stall drop key frames freeze picture timestamps jump close 401 404 454 461",
  where: `Open a ${what} of the list`,
});

export const rtspPage = defineServicePage({
  id: "rtsp",
  color: "--bl-s4",
  minSample: { verb: "GET_PARAMETER", outcome: "454 Session Not Found" },
  inspectors: { rtsp: RtspSessionInspector },
  rowCommands: {
    rtsp: {
      target: "path",
      copies: playerCopies.map(({ title, text }) => ({ title, text: (session, service) => text(session, service) })),
    },
  },
  tabs: [
    trafficTab({
      item: nounOf("session"),
      Above: PicturesStrip,
      columns: rtspColumns,
      scopes: sessionScopes,
      filterPlaceholder: "Path, state, client",
      filterTerms: allTerms,
      details: "requests and answers",
      commands: [faultsOf("session")],
      empty: {
        nothing: "No sessions yet.",
        point: (origin) => `your player at ${origin}/stream, or send sample traffic.`,
        watch: "each session appear here, with its requests, transport, packets and losses.",
        appears: [
          ["session", "path, state, bytes and client, newest first"],
          ["requests", "each request and answer of a session, with its header fields"],
          ["tracks", "transport, packets, loss and jitter of each track"],
        ],
        command: (origin) => `ffplay -rtsp_transport tcp ${origin}/stream`,
      },
    }),
    contentTab("paths", "Paths", RtspPaths, [...pathsCommands, faultsOf("path")]),
    tryTab(RtspTry),
  ],
});
