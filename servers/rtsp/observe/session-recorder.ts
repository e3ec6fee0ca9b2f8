import { redactTarget } from "../../../contract/traffic/redact-target.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import type { BodyBudget } from "../../core/http/connections/body-budget.ts";
import { createClientNames } from "../../core/http/messages/client-name.ts";
import { durationText } from "../../core/http/record/http-log-line.ts";
import type { Log } from "../../core/service/log.ts";
import type { TrafficSink } from "../../core/service/service.ts";
import { reasons } from "../protocol/message.ts";
import { type EndedBy, type EntryConnection, type RecordedSession, SessionEntry } from "./session-entry.ts";

/** The reason of sessions that end with the service. */
export const serviceStops = "the service stops";

export interface SessionRecorderOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  /** Bytes that are kept of each request and answer. */
  readonly messageLimit: number;
  readonly messageBudget: BodyBudget | undefined;
}

/** Begins and ends the rows of sessions and writes their log lines. */
export class SessionRecorder {
  /** Requests so far. */
  requests = 0;
  readonly #options: SessionRecorderOptions;
  readonly #clientNameOf = createClientNames();
  readonly #entries = new Map<RecordedSession, SessionEntry>();

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
  }

  begin(connection: EntryConnection): SessionEntry {
    const { traffic, messageLimit, messageBudget } = this.#options;
    const entry = new SessionEntry({
      id: traffic.nextId(),
      connection,
      clientName: this.#clientNameOf,
      messageLimit,
      messageBudget,
      touch: (touched) => this.#touch(touched),
    });
    return entry;
  }

  #touch(entry: SessionEntry): void {
    if (entry.open) this.#options.traffic.touch(entry);
  }

  /** The entry is the row of this session from now on. */
  bind(session: RecordedSession, entry: SessionEntry): void {
    entry.session = session;
    entry.path = session.path;
    this.#entries.set(session, entry);
  }

  entryOf(session: RecordedSession): SessionEntry | undefined {
    return this.#entries.get(session);
  }

  sessionOf(row: number): RecordedSession | undefined {
    for (const [session, entry] of this.#entries) if (entry.id === row) return session;
    return undefined;
  }

  /** Those that are open, the newest last. */
  sessions(): RecordedSession[] {
    return [...this.#entries.keys()];
  }

  endSession(session: RecordedSession, reason: string, by: EndedBy): void {
    const entry = this.#entries.get(session);
    if (!entry) return;
    this.#entries.delete(session);
    const isFailure = by !== "client" && reason !== serviceStops;
    this.#end(entry, reason, isFailure ? "failed" : reason === "TEARDOWN" ? "ok" : "neutral");
  }

  /** Of requests that did not become a session. */
  endConnection(entry: SessionEntry): void {
    const { status } = entry;
    if (status === undefined) this.#end(entry, "disconnected", "aborted");
    // The time is that of the connection, and not of a request.
    else this.#end(entry, `${status} ${reasons[status]}`, toneOfStatus(status), "connected ");
  }

  #end(entry: SessionEntry, text: string, tone: Tone, time = ""): void {
    entry.end(text, tone);
    this.#options.traffic.end(entry);
    this.#writeLogLine(entry, tone, time);
  }

  #writeLogLine(entry: SessionEntry, tone: Tone, time: string): void {
    const { log } = this.#options;
    const level = tone === "failed" ? "warning" : "info";
    if (!log.enabled(level)) return;
    const { verb, target, outcome, tookMs, client, remote, reason } = entry;
    const why = reason === undefined ? "" : ` (${reason})`;
    // A path may be a name with its query, which its client has encoded as a whole.
    const line = `${verb} ${redactTarget(target).slice(0, 200)} ${outcome}${why} ${time}${durationText(tookMs)} ${client || "-"} ${remote}`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
    log[level](line.replace(/[\0-\x1f\x7f]/g, " "));
  }

  /** Once a second: counts of sessions that play or publish. */
  tick(): void {
    for (const [session, entry] of this.#entries) if (session.state !== "ready") this.#touch(entry);
  }
}

function toneOfStatus(status: number): Tone {
  if (status < 300) return "ok";
  if (status < 400) return "neutral";
  return status < 500 ? "refused" : "failed";
}
