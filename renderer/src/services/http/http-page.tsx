import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { httpRowCommands } from "../../inspectors/http-row-commands.ts";
import { httpColumns, statusScopes } from "../../list/columns/http-columns.tsx";
import { httpStatuses } from "../../list/filter/filter-terms.ts";
import { defineServicePage, trafficTab, tryTab } from "../../pages/service/define-service-page.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { recordedTries, tryOfExchange } from "../try/try-request.ts";
import { HttpTry, triedKinds } from "./http-try.tsx";
import { sendEvent } from "./send-event.tsx";
import { draftOfConnection, recordedSockets } from "./socket-draft.ts";
import { SsePanel } from "./sse-panel.tsx";

const delayAnswers = {
  id: "http-delay",
  title: "Delay or break answers",
  keywords: "faults slow latency timeout error status fail drip",
  where: "By the path: /delay/2, /api/status/503 and others",
};

export const httpPage = defineServicePage({
  id: "http",
  color: "--bl-s1",
  minSample: { verb: "OPTIONS", outcome: "closed 1000" },
  inspectors: httpInspectors,
  rowCommands: httpRowCommands(
    (exchange) => {
      recordedTries.give("http", tryOfExchange(exchange, true));
      triedKinds.give("http", "request");
    },
    (connection) => {
      recordedSockets.give("http", draftOfConnection(connection));
      triedKinds.give("http", "websocket");
    },
  ),
  tabs: [
    trafficTab({
      item: nounOf("request"),
      columns: httpColumns,
      scopes: statusScopes,
      filterPlaceholder: "Path, client, body",
      filterTerms: { fields: ["status", "method", "path", "client", "took", "size"], statuses: httpStatuses },
      details: "headers and bodies",
      empty: {
        nothing: "No requests yet.",
        point: (origin) => `your app at ${origin}, or send sample traffic.`,
        watch: "each request appear here, with its response, headers, body and time.",
        appears: [
          ["request", "method, path and status, newest first, with size and time"],
          ["details", "headers and body of the request and the response, and where the time went"],
          ["stream", "who is subscribed to server-sent events, and each event sent"],
        ],
        command: (origin) => `curl ${origin}/api/data`,
      },
      Below: SsePanel,
      commands: [sendEvent],
    }),
    tryTab(HttpTry, [delayAnswers]),
  ],
});
