import type { WebrtcMediaSessionView, WebrtcMediaViews } from "../../../contract/services/webrtc-media.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import type { WebrtcMedia, WebrtcMediaState } from "../../../contract/traffic/webrtc-media.ts";
import { createClientNames } from "../../core/http/messages/client-name.ts";
import { durationText } from "../../core/http/record/http-log-line.ts";
import { rowWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { Log } from "../../core/service/log.ts";
import { notQueued, type TrafficEntry, type TrafficSink } from "../../core/service/service.ts";
import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordReader } from "../../core/traffic/record-reader.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import type { MediaSession } from "./sessions/media-session.ts";
import type { MediaObserver } from "./sessions/media-sessions.ts";

export interface MediaRecorderOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
}

/** Rows and log lines of WHEP and WHIP. */
export class MediaRecorder implements MediaObserver {
  readonly #options: MediaRecorderOptions;
  readonly #entries = new Map<MediaSession, MediaEntry>();
  readonly #clientNameOf = createClientNames();

  constructor(options: MediaRecorderOptions) {
    this.#options = options;
  }

  opened(session: MediaSession): void {
    const { traffic } = this.#options;
    const entry = new MediaEntry(traffic.nextId(), session, this.#clientNameOf(session.client.userAgent));
    this.#entries.set(session, entry);
    traffic.touch(entry);
  }

  changed(session: MediaSession): void {
    const entry = this.#entries.get(session);
    if (!entry) return;
    entry.sample();
    this.#options.traffic.touch(entry);
  }

  ended(session: MediaSession, reason: string, by: "client" | "server"): void {
    const entry = this.#entries.get(session);
    if (!entry) return;
    this.#entries.delete(session);
    entry.end(by === "client" ? "neutral" : "failed");
    this.#options.traffic.end(entry);
    const { log } = this.#options;
    const level = by === "client" ? "info" : "warning";
    if (!log.enabled(level)) return;
    const line = `${session.protocol} /${session.path} ${reason} ${durationText(entry.totalMs)} ${entry.client || "-"} ${session.client.remote}`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
    log[level](line.slice(0, 1_000).replace(/[\0-\x1f\x7f]/g, " "));
  }

  sessionOf(row: number): MediaSession | undefined {
    for (const [session, entry] of this.#entries) if (entry.id === row) return session;
    return undefined;
  }

  /** The newest ones. */
  view(most: number): WebrtcMediaViews["media"] {
    const all = [...this.#entries.values()];
    const newest = all.slice(-most).reverse();
    return { sessions: newest.map((entry) => entry.view()), more: all.length - newest.length };
  }
}

const leastStateMs = 5_000;

/** The row of a session, from its offer to its end. */
class MediaEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly client: string;
  readonly heldBytes = 2_000;
  totalMs = 0;
  readonly #session: MediaSession;
  readonly #beganMs = performance.now();
  #tone: Tone | undefined;
  #writtenState = "";
  #wroteMs = Number.NEGATIVE_INFINITY;
  #sample = { atMs: performance.now(), bytes: 0 };
  #bitRate = 0;

  constructor(id: number, session: MediaSession, client: string) {
    this.id = id;
    this.#session = session;
    this.client = client;
  }

  get open(): boolean {
    return this.#tone === undefined;
  }

  end(tone: Tone): void {
    this.#tone = tone;
    this.totalMs = performance.now() - this.#beganMs;
  }

  /** The rate since the last time. */
  sample(): void {
    const { bytesSent, bytesReceived } = this.#session.transport;
    const now = { atMs: performance.now(), bytes: bytesSent + bytesReceived };
    const passed = now.atMs - this.#sample.atMs;
    if (passed < 500) return;
    this.#bitRate = Math.round(((now.bytes - this.#sample.bytes) * 8_000) / passed);
    this.#sample = now;
  }

  view(): WebrtcMediaSessionView {
    const { protocol, path, state, remote, pair, tracks, rttMs, leftOut } = this.#session.describe();
    const losses = tracks.flatMap(({ lossFraction }) => (lossFraction === undefined ? [] : [lossFraction]));
    return {
      row: this.id,
      protocol,
      path,
      state,
      since: this.#session.since,
      remote,
      client: this.client,
      ...(pair && { pair }),
      codecs: codecsOf(tracks),
      bitRate: this.#bitRate,
      ...(losses.length > 0 && { lossFraction: Math.max(...losses) }),
      ...(rttMs !== undefined && { rttMs }),
      leftOut,
    };
  }

  write(record: RecordWriter): void {
    const state = this.#session.describe();
    const { protocol, path, remote, leftOut, ended } = state;
    record.row({
      id: this.id,
      at: this.#session.since,
      kind: "webrtc-media",
      verb: protocol === "whep" ? "play" : "publish",
      target: `/${path}`.slice(0, 300),
      tone: this.#tone ?? "pending",
      outcome: ended ?? state.state,
      tookMs: this.#tone && Math.round(this.totalMs),
      bytesIn: state.bytesReceived,
      bytesOut: state.bytesSent,
      client: this.client,
      peer: remote,
      preview: [protocol.toUpperCase(), codecsOf(state.tracks)].filter((text) => text !== "").join(", "),
      reason: leftOut.map(({ reason }) => reason).join(" ") || undefined,
    });
    // What is written stays with the row: counts of a long session are written in steps that grow with it.
    const now = performance.now();
    const isDue = now - this.#wroteMs > Math.max(leastStateMs, (now - this.#beganMs) / 20);
    if (!isDue && state.state === this.#writtenState && this.open) return;
    this.#wroteMs = now;
    this.#writtenState = state.state;
    record.text(JSON.stringify(state));
  }
}

/** Pictures first, in whichever order the client has offered them. */
const codecsOf = (tracks: WebrtcMediaState["tracks"]): string =>
  tracks
    .toSorted((one, other) => Number(one.kind === "audio") - Number(other.kind === "audio"))
    .map(({ codec }) => codec)
    .join(", ");

export const mediaDecoder: DetailDecoder<"webrtc-media"> = {
  /** Of the states that were written one after the other, the last one counts. */
  detail({ row, detail }): WebrtcMedia {
    const reader = new RecordReader(detail);
    let state = "{}";
    while (!reader.atEnd) state = reader.text();
    const totalMs = row.tone === "pending" ? undefined : row.tookMs;
    return {
      kind: "webrtc-media",
      id: row.id,
      at: row.at,
      ...(JSON.parse(state) as WebrtcMediaState),
      ...(totalMs !== undefined && { totalMs }),
    };
  },
  withoutCredentials: ({ row, detail }, found) => ({ row: rowWithoutCredentials(row, found), detail }),
};
