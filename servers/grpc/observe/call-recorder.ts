import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { redactTarget } from "../../../contract/traffic/redact-target.ts";
import { hasTone } from "../../../contract/traffic/row-filter.ts";
import type { BodyBudget } from "../../core/http/connections/body-budget.ts";
import { createClientNames } from "../../core/http/messages/client-name.ts";
import { durationText, loggedReason, loggedTarget } from "../../core/http/record/http-log-line.ts";
import type { Log } from "../../core/service/log.ts";
import { countText } from "../../core/service/quantity.ts";
import type { Counters, TrafficSink } from "../../core/service/service.ts";
import { createLatencyWindow } from "../../core/traffic/latency-window.ts";
import type { CallHead, SentEnd } from "../engine/call-transport.ts";
import type { GrpcConnections } from "../engine/connections.ts";
import { CallEntry, type MessageCounts } from "./call-entry.ts";
import { type CallMetrics, noCalls } from "./call-metrics.ts";
import type { RecordedMethod } from "./call-record.ts";
import { createMetricsHistory, type MetricsHistory } from "./metrics-history.ts";

/** A reason may quote the path. To look for its secrets in all forms would take some milliseconds, for each call of a client that has them. */
const withoutSecretsOf = (path: string, reason: string): string => reason.replaceAll(path, () => redactTarget(path));

export interface CallRecorderOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  readonly metrics: CallMetrics;
  /** First bytes that are kept of each message. */
  readonly messageLimit: number;
  /** For the bytes beyond them; without it none are kept. */
  readonly messageBudget?: BodyBudget | undefined;
}

/** Begins and ends the row of each call, counts it and writes its log line. */
export interface CallRecorder {
  begin(head: CallHead, method: RecordedMethod | undefined): CallEntry;
  end(entry: CallEntry, end: SentEnd): void;
  /** The row of a connection that ended before its first call: of `what` in parentheses, such as its TLS handshake. The log has its line. */
  refused(connection: ConnectionHead, what: string, why: string): void;
  /** For the page's plots. */
  readonly history: Pick<MetricsHistory, "read">;
  /** To be called once a second. */
  counters(connections: Pick<GrpcConnections, "bytes" | "count">): Counters;
}

const noHead = {
  protocol: "grpc",
  httpVersion: "2",
  httpMethod: "?",
  codec: "proto",
  authority: "",
  rawHeaders: [],
  timeoutMs: undefined,
  requestEncoding: "identity",
  connectionCalls: 0,
} as const;
/** It is no call of a method. */
const uncounted = noCalls();

export function createCallRecorder({ traffic, log, metrics, messageLimit, messageBudget }: CallRecorderOptions): CallRecorder {
  const clientNameOf = createClientNames();
  const latency = createLatencyWindow();
  const history = createMetricsHistory();
  const counts: MessageCounts = { received: 0, sent: 0 };
  const touch = (entry: CallEntry) => traffic.touch(entry);
  let begun = 0;
  let open = 0;
  let errors = 0;
  let failed = 0;

  function writeLogLine(entry: CallEntry, end: SentEnd): void {
    const level = end.status ? "info" : "warning";
    if (!log.enabled(level)) return;
    const { path, outcome, tookMs, received, sent, client, head, reason } = entry;
    const shown = loggedTarget(path);
    const why = reason === undefined ? "" : ` ${loggedReason(withoutSecretsOf(path, reason))}`;
    log[level](`${shown} ${outcome} ${durationText(tookMs)} ${received} in ${sent} out ${client || "-"} ${head.connection.remote}${why}`);
  }

  return {
    begin(head, method) {
      begun++;
      open++;
      const methodCounts = metrics.begin(method);
      const entry = new CallEntry({
        id: traffic.nextId(),
        head,
        method,
        client: clientNameOf(userAgentOf(head.rawHeaders)),
        messageLimit,
        messageBudget,
        counts,
        methodCounts,
        touch,
      });
      traffic.touch(entry);
      return entry;
    },
    end(entry, end) {
      open--;
      entry.end(end);
      traffic.end(entry);
      if (end.status?.code !== 0) errors++;
      // Those that the list's filter "Failed" finds: also those that the client cancelled or left.
      if (hasTone(entry.tone, "failed")) failed++;
      if (end.status && entry.method?.pattern === "unary") {
        latency.add(entry.tookMs);
        history.addLatency(entry.tookMs);
      }
      metrics.end(entry.methodCounts, end, entry.tookMs);
      writeLogLine(entry, end);
    },
    refused(connection, what, why) {
      const entry = new CallEntry({
        id: traffic.nextId(),
        head: { ...noHead, path: `(${what})`, connection: { ...connection, clientCertificate: undefined } },
        method: undefined,
        client: "",
        messageLimit: 0,
        messageBudget: undefined,
        counts,
        methodCounts: uncounted,
        touch,
      });
      entry.end({ headers: undefined, trailers: undefined, status: undefined, aborted: why });
      traffic.end(entry);
    },
    history,
    counters(connections) {
      const { read, written } = connections.bytes();
      history.sample({ calls: begun, errors, open, ...counts, bytesIn: read, bytesOut: written }, Date.now());
      const p95 = latency.percentile(0.95);
      const notes = [
        ...(p95 === undefined ? [] : [`unary p95 ${durationText(p95)}`]),
        ...(failed === 0 ? [] : [`${countText(failed)} of ${countText(begun)} failed`]),
      ];
      return {
        items: begun,
        bytesIn: read,
        bytesOut: written,
        clients: connections.count,
        figures: [
          { label: "in and out", value: counts.received + counts.sent, unit: "msg/s", perSecond: true },
          { label: "open", value: open, unit: "" },
        ],
        note: notes.join(" · "),
      };
    },
  };
}

function userAgentOf(rawHeaders: readonly string[]): string | undefined {
  // HTTP/1.1 has names in any case, nearly always in one of these two.
  const at = rawHeaders.indexOf("user-agent");
  if (at >= 0) return rawHeaders[at + 1];
  const capitalized = rawHeaders.indexOf("User-Agent");
  return capitalized < 0 ? undefined : rawHeaders[capitalized + 1];
}
