import type { Socket } from "node:net";
import { type ClientMark, markedClient, readClient } from "../../../../contract/client-mark.ts";
import type { Log } from "../../service/log.ts";
import { countOf, countText } from "../../service/quantity.ts";
import type { Counters, TrafficSink } from "../../service/service.ts";
import { createLatencyWindow } from "../../traffic/latency-window.ts";
import type { WorkTurns } from "../../turns/work-turns.ts";
import type { BodyBudget } from "../connections/body-budget.ts";
import { createHttpConnections, type HttpConnections } from "../connections/http-connections.ts";
import { createClientNames } from "../messages/client-name.ts";
import { hasBody } from "../messages/request-body.ts";
import { type MessageEnd, type MessageFacts, WebSocketMessageEntry } from "../websocket/websocket-message-entry.ts";
import { HttpEntry } from "./http-entry.ts";
import { durationText, httpLogLine } from "./http-log-line.ts";
import type { HttpRedaction } from "./http-redaction.ts";
import type { RecordedRequest, RecordedResponse } from "./recorded-messages.ts";

export interface HttpRecorderOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  /** First bytes kept of each request body and of each response body. */
  readonly bodyLimit: number;
  /** For the bytes beyond them; without it none are kept. */
  readonly bodyBudget?: BodyBudget | undefined;
  /** Hides credentials before a row or its detail leaves the process. */
  readonly redaction?: HttpRedaction;
  /** Redacts a path for the log, for services whose paths contain secrets. */
  readonly maskPath?: (target: string) => string;
  /** Of all clients of the service. */
  readonly turns: WorkTurns;
}

export interface HttpRecorder {
  readonly connections: HttpConnections;
  /** Begins a row; to be called first in the "request" event. */
  begin(request: RecordedRequest, response: RecordedResponse): HttpEntry;
  /** Begins a row without Node's request and response: malformed bytes, a WebSocket. */
  beginEntry(socket: Socket, facts: EntryFacts): HttpEntry;
  /** Ends an entry that `beginEntry` began. */
  end(entry: HttpEntry, options?: { quiet?: boolean }): void;
  /** The row of a connection whose TLS handshake failed. */
  refusedHandshake(socket: Socket, why: string): void;
  /** A message of an open WebSocket: a part of its connection's row, and a row that belongs to it. */
  beginMessage(connection: HttpEntry, bytes: Buffer, facts: MessageFacts): WebSocketMessageEntry;
  endMessage(message: WebSocketMessageEntry, ended: MessageEnd): void;
  /** Calls back with the row id of the next request from this address and port, whose client gets the mark. */
  watch(remote: string, onBegin: (row: number) => void, mark?: ClientMark): () => void;
  counters(): Counters;
  /** From here on an aborted exchange counts as aborted by the service. */
  stop(): void;
}

export interface EntryFacts {
  readonly kind: "http" | "websocket";
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly rawHeaders: readonly string[];
  readonly userAgent: string | undefined;
  readonly unparsed?: Buffer | undefined;
}

export function createHttpRecorder(options: HttpRecorderOptions): HttpRecorder {
  const { traffic, log, bodyLimit, bodyBudget, redaction, maskPath, turns } = options;
  const connections = createHttpConnections(turns);
  const clientNameOf = createClientNames();
  const latency = createLatencyWindow();
  const watched = new Map<string, { readonly onBegin: (row: number) => void; readonly mark: ClientMark | undefined }>();
  let begun = 0;
  let serverErrors = 0;
  let stopping = false;

  function beginEntry(socket: Socket, facts: EntryFacts, connection = connections.of(socket)): HttpEntry {
    connection.requests += 1;
    begun += 1;
    const { kind, method, target, httpVersion, rawHeaders, unparsed } = facts;
    const watch = watched.size > 0 ? watched.get(connection.remote) : undefined;
    const name = clientNameOf(facts.userAgent);
    const client = watch?.mark ? markedClient(readClient(name).software, watch.mark) : name;
    const entry = new HttpEntry({
      id: traffic.nextId(),
      kind,
      method,
      target,
      httpVersion,
      rawHeaders,
      client,
      connection,
      bodyLimit,
      bodyBudget,
      redaction,
      unparsed,
    });
    watch?.onBegin(entry.id);
    traffic.touch(entry);
    return entry;
  }

  function end(entry: HttpEntry, { quiet = false, trailers }: { quiet?: boolean; trailers?: readonly string[] } = {}): void {
    if (entry.ended) return;
    entry.end(trailers);
    if (!entry.longLived && entry.aborted === undefined) latency.add(entry.tookMs);
    if (entry.status >= 500) serverErrors += 1;
    traffic.end(entry);
    if (!quiet) writeLogLine(entry);
  }

  function writeLogLine(entry: HttpEntry): void {
    // A 5xx was requested from a stand-in, and a stream ends when its client disconnects: neither deserves a warning.
    const level = entry.aborted !== undefined && !entry.longLived ? "warning" : "info";
    if (!log.enabled(level)) return;
    const { method, client, connection } = entry.head;
    const target = maskPath?.(entry.head.target) ?? entry.head.target;
    const { outcomeText: outcome, tookMs, user } = entry;
    const { unlogged } = connection;
    const reason = unlogged === 0 ? entry.reason : `with ${countOf(unlogged, "more request")} of the connection`;
    const bytesOut = entry.responseBody.bytes;
    log[level](httpLogLine({ method, target, outcome, tookMs, bytesOut, client, peer: connection.remote, user, reason }));
  }

  function onResponseClose(this: RecordedResponse): void {
    const { entry, req } = this;
    // Node closes some responses of a connection that was cut, and its pipeline all of them.
    if (!entry || entry.ended) return;
    const { connection } = entry.head;
    connection.held?.release(req);
    connection.pipeline?.answered(this);
    entry.hasPartOfBody = !req.complete && hasBody(req);
    if (!this.writableFinished) entry.aborted ??= stopping ? "service stopped" : "client left";
    // The reference would keep the whole exchange in memory while the connection idles.
    if (req.complete && connection.latest === this) connection.latest = undefined;
    // Of all that was unanswered on a connection that was cut, the last one has the log line.
    const isOneOfMany = req.socket.destroyed && !this.writableFinished && (connection.pipeline?.unanswered.size ?? 0) > 0;
    if (isOneOfMany) connection.unlogged++;
    end(entry, { trailers: req.rawTrailers, quiet: isOneOfMany });
  }

  return {
    connections,
    begin(request, response) {
      const entry = beginEntry(request.socket, {
        kind: "http",
        method: request.method ?? "",
        target: request.url ?? "",
        httpVersion: request.httpVersion,
        rawHeaders: request.rawHeaders,
        userAgent: request.headers["user-agent"],
      });
      request.entry = entry;
      response.entry = entry;
      const { connection } = entry.head;
      connection.latest = response;
      connection.pipeline?.begin(response);
      connection.held?.begin(request);
      response.on("close", onResponseClose);
      return entry;
    },
    beginEntry,
    end,
    refusedHandshake(socket, why) {
      const facts = {
        kind: "http",
        method: "?",
        target: "(TLS handshake)",
        httpVersion: "",
        rawHeaders: [],
        userAgent: undefined,
      } as const;
      const entry = beginEntry(socket, facts, connections.refused(socket));
      entry.aborted = why;
      // The log has its line.
      end(entry, { quiet: true });
    },
    beginMessage(connection, bytes, facts) {
      const message = new WebSocketMessageEntry(traffic.nextId(), connection, bytes, facts);
      traffic.touch(message);
      traffic.touch(connection);
      return message;
    },
    endMessage(message, ended) {
      message.end(ended);
      traffic.end(message);
      if (message.connection.open) traffic.touch(message.connection);
    },
    watch(remote, onBegin, mark) {
      watched.set(remote, { onBegin, mark });
      return () => void watched.delete(remote);
    },
    counters() {
      const { read, written } = connections.bytes();
      const p95 = latency.percentile(0.95);
      const notes = [
        ...(p95 === undefined ? [] : [`p95 ${durationText(p95)}`]),
        ...(serverErrors === 0 ? [] : [`5xx: ${countText(serverErrors)} of ${countText(begun)}`]),
      ];
      return { items: begun, bytesIn: read, bytesOut: written, clients: connections.open, note: notes.join(" · ") };
    },
    stop() {
      stopping = true;
    },
  };
}
