import { grpcStatuses } from "../../list/filter/filter-terms.ts";
import { contentTab, defineServicePage, trafficTab, tryTab } from "../../pages/service/define-service-page.ts";
import { nounOf } from "../../ui/texts/quantity.ts";
import { grpcurlFor } from "./call-lines.ts";
import { CallPicks, callScopes } from "./call-scopes.tsx";
import { GrpcCallInspector } from "./grpc-call-inspector.tsx";
import { grpcColumns } from "./grpc-columns.tsx";
import { GrpcMetrics } from "./metrics/grpc-metrics.tsx";
import { addProtosCommands } from "./protos/add-protos-button.tsx";
import { grpcRowCommands } from "./recorded-call.ts";
import { GrpcReplies, repliesCommands } from "./replies/grpc-replies.tsx";
import { GrpcServices } from "./services/grpc-services.tsx";
import { GrpcTry } from "./try/grpc-try.tsx";

export const grpcPage = defineServicePage({
  id: "grpc",
  color: "--bl-s2",
  minSample: { verb: "server stream", outcome: "DEADLINE_EXCEEDED" },
  inspectors: { "grpc-call": GrpcCallInspector },
  rowCommands: grpcRowCommands,
  tabs: [
    trafficTab({
      item: nounOf("call"),
      columns: grpcColumns,
      scopes: callScopes,
      Picks: CallPicks,
      filterPlaceholder: "Filter by text",
      filterTerms: { fields: ["status", "method", "path", "client", "reason", "took", "size"], statuses: grpcStatuses },
      details: "metadata and messages",
      empty: {
        nothing: "No calls yet.",
        point: (origin) => `your client at ${origin.replace(/^grpcs?:\/\//, "")}, or send sample traffic.`,
        watch: "each call appear here, with its messages, metadata, status and time.",
        appears: [
          ["call", "method, pattern and status, newest first, with messages and time"],
          ["details", "each message in both directions, metadata and trailers"],
          ["status", "code, message and trailers, and how long the client would have waited"],
        ],
        command: (origin) => `${grpcurlFor(origin)} -d '{"name":"world"}' ${origin.replace(/^grpcs?:\/\//, "")} example.Greeter/SayHello`,
      },
    }),
    contentTab("services", "Services", GrpcServices, addProtosCommands),
    tryTab(GrpcTry),
    contentTab("replies", "Replies", GrpcReplies, repliesCommands),
    contentTab("metrics", "Metrics", GrpcMetrics),
  ],
});
