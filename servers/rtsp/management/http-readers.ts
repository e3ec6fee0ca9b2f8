import { randomUUID } from "node:crypto";
import type { RtspSessionTrack } from "../../../contract/traffic/rtsp.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { LimitedPlaces } from "../../core/limits/limited-places.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { everySecondInTurns } from "../../core/service/every-second.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { EndedBy, EntryConnection, RecordedSession } from "../observe/session-entry.ts";
import type { SessionRecorder } from "../observe/session-recorder.ts";
import type { Stream } from "../streams/stream.ts";

/** Who reads what, as its request says. */
export interface HttpReaderOptions {
  readonly path: string;
  readonly user: string | undefined;
  readonly userAgent: string;
  /** Path of the request. */
  readonly target: string;
  readonly address: string;
  readonly connection: EntryConnection;
  readonly stream: Stream;
}

interface HttpReaderEnd {
  readonly format: "HLS" | "MPEG-TS";
  /** Ends its answer; without it there is nothing that could be ended. */
  readonly close: (() => void) | undefined;
  readonly onSent: (bytes: number) => void;
  readonly onEnd: (reader: HttpReader, reason: string, by: EndedBy) => void;
}

/** A reader of HLS or MPEG-TS, as a session of the page. */
class HttpReader implements RecordedSession {
  readonly id: string;
  readonly path: string;
  readonly role = "read";
  readonly state = "playing";
  readonly user: string | undefined;
  /** By which readers are counted. */
  readonly address: string;
  usedAtMs = performance.now();
  #sentBytes = 0;
  readonly #options: HttpReaderOptions & HttpReaderEnd;

  constructor(options: HttpReaderOptions & HttpReaderEnd) {
    this.id = options.close ? randomUUID() : "";
    this.path = options.path;
    this.user = options.user;
    this.address = rateLimitKey(options.address);
    this.#options = options;
  }

  get mediaBytes(): { readonly received: number; readonly sent: number } {
    return { received: 0, sent: this.#sentBytes };
  }

  /** It is sent so many bytes more. */
  sends(bytes: number): void {
    this.#sentBytes += bytes;
    this.#options.onSent(bytes);
  }

  describeTracks(): readonly RtspSessionTrack[] {
    const { stream, format } = this.#options;
    return stream.tracks.map(({ codec }, index) => ({ index, codec, transport: format, packets: 0, bytes: 0, dropped: 0 }));
  }

  end(reason: string, by: EndedBy): void {
    this.#options.onEnd(this, reason, by);
    this.#options.close?.();
  }
}

export interface HttpReadersOptions {
  readonly recorder: SessionRecorder;
  readonly mostReaders: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly mostOfAddress: number;
  /** A reader of HLS that has made no request for this time counts as gone. */
  readonly idleMs: number;
  readonly turns: WorkTurns;
}

/** The readers over HTTP, each with a row: of MPEG-TS an answer is a reader, of HLS the requests of a client for a path. */
export class HttpReaders {
  /** So far, to all of them. */
  bytesSent = 0;
  readonly #options: HttpReadersOptions;
  readonly #open = new Set<HttpReader>();
  readonly #places: LimitedPlaces<HttpReader>;
  readonly #hls = new Map<string, HttpReader>();
  readonly #stopTicking: () => void;

  constructor(options: HttpReadersOptions) {
    this.#options = options;
    const { mostReaders: most, mostOfAddress } = options;
    this.#places = new LimitedPlaces({ most, mostOfAddress }, (reader) => reader.end("too many readers: this address had most", "server"));
    this.#stopTicking = everySecondInTurns(
      options.turns,
      () => this.#hls.values(),
      (reader, nowMs) => this.#tick(reader, nowMs),
    );
  }

  get size(): number {
    return this.#open.size;
  }

  /** Throws an HttpRefusal of 503 where there are too many. */
  openTransportStream(options: HttpReaderOptions, close: () => void): HttpReader {
    return this.#begin({ ...options, format: "MPEG-TS", close, onEnd: (ended, reason, by) => this.#end(ended, reason, by) });
  }

  /** A file of HLS is sent. Throws as `openTransportStream`. */
  fetched(options: HttpReaderOptions, bytes: number): void {
    const { address, userAgent, path, user = "" } = options;
    const key = [address, user, path, userAgent].join("\n");
    const onEnd = (reader: HttpReader, reason: string, by: EndedBy) => {
      this.#hls.delete(key);
      this.#end(reader, reason, by);
    };
    const reader = this.#hls.get(key) ?? this.#begin({ ...options, format: "HLS", close: undefined, onEnd });
    this.#hls.set(key, reader);
    reader.sends(bytes);
    reader.usedAtMs = performance.now();
  }

  #begin(options: HttpReaderOptions & Omit<HttpReaderEnd, "onSent">): HttpReader {
    const { recorder } = this.#options;
    const lack = this.#places.lacksPlaceFor(options.address);
    if (lack) throw new HttpRefusal(503, `there are too many readers${lack === "of all" ? "" : ` ${lack}`}`);
    const reader = new HttpReader({
      ...options,
      onSent: (bytes) => {
        this.bytesSent += bytes;
      },
    });
    this.#open.add(reader);
    this.#places.add(options.address, reader);
    const entry = recorder.begin(options.connection);
    recorder.bind(reader, entry);
    entry.begins("play", options.userAgent, `GET ${options.target}`);
    return reader;
  }

  #end(reader: HttpReader, reason: string, by: EndedBy): void {
    if (!this.#open.delete(reader)) return;
    this.#places.remove(reader);
    this.#options.recorder.endSession(reader, reason, by);
  }

  #tick(reader: HttpReader, nowMs: number): void {
    const { idleMs } = this.#options;
    if (this.#open.has(reader) && reader.usedAtMs < nowMs - idleMs) reader.end(`no request for ${idleMs / 1_000} s`, "client");
  }

  /** Closes the answers that go on; readers of HLS have none. */
  endAnswers(path: string, reason: string): void {
    const ofPath = [...this.#open].filter((reader) => reader.path === path && reader.id !== "");
    void this.#options.turns.each(ofPath, (reader) => reader.end(reason, "fault"));
  }

  close(reason: string): void {
    this.#stopTicking();
    for (const reader of [...this.#open]) reader.end(reason, "server");
  }
}
