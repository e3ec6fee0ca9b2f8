import type { RtspPathView, RtspSessionView, RtspTrackView, RtspViews } from "../../../contract/services/rtsp.ts";
import type { Counters } from "../../core/service/service.ts";
import { pictureOf } from "../media/parameter-sets.ts";
import type { Track } from "../media/track.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Path, Paths } from "../streams/paths.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** Rows of a view; the rest is counted. */
const mostShown = 200;

export interface PageViewsOptions {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly recorder: SessionRecorder;
  readonly view: (name: string, value: unknown) => void;
}

export interface ServerCounts {
  readonly requests: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly connections: number;
}

interface PathSample {
  readonly at: number;
  readonly bytes: number;
  readonly frames: number;
}

/** What the page shows without a call, renewed once a second. */
export function createPageViews({ paths, sessions, recorder, view }: PageViewsOptions) {
  /** Counts of each path a second ago, by its source. */
  let before = new Map<Path["source"], PathSample>();
  let shown = "";

  function describePath({ name, source, since }: Path, samples: Map<Path["source"], PathSample>): RtspPathView {
    const { stream } = source;
    const bytes = sum(stream?.counts.map((count) => count.bytes));
    const frames =
      stream && stream.keyTrack >= 0 ? (stream.counts[stream.keyTrack]?.frames ?? 0) : sum(stream?.counts.map((count) => count.frames));
    const sample = { at: performance.now(), bytes, frames };
    samples.set(source, sample);
    const last = before.get(source) ?? sample;
    const seconds = (sample.at - last.at) / 1_000;
    const rate = (count: number) => (seconds > 0 ? Math.round((count / seconds) * 10) / 10 : 0);
    return {
      name,
      source: { kind: source.kind, title: source.title },
      ready: stream !== undefined,
      since,
      tracks: stream?.tracks.map(describeTrack) ?? [],
      readers: stream?.readers ?? 0,
      bytesReceived: bytes,
      bytesSent: stream?.bytesSent ?? 0,
      bitRate: Math.round(rate((bytes - last.bytes) * 8)),
      frameRate: rate(frames - last.frames),
    };
  }

  function describeSessions(): RtspViews["sessions"] {
    const all = sessions.list();
    const newest = all.slice(-mostShown).reverse();
    return {
      sessions: newest.map(
        (session): RtspSessionView => ({
          session: session.id,
          row: recorder.entryOf(session)?.id ?? 0,
          path: session.path,
          role: session.role,
          state: session.state,
          transport: [...session.transports.values()][0]?.title ?? "",
        }),
      ),
      more: all.length - newest.length,
    };
  }

  return {
    show(): void {
      const samples = new Map<Path["source"], PathSample>();
      const all = paths.list();
      const value: RtspViews["paths"] = {
        paths: all.slice(0, mostShown).map((path) => describePath(path, samples)),
        more: Math.max(0, all.length - mostShown),
      };
      before = samples;
      view("paths", value);
      const sessionView = describeSessions();
      const text = JSON.stringify(sessionView);
      if (text === shown) return;
      shown = text;
      view("sessions", sessionView);
    },
    counters({ requests, bytesReceived, bytesSent, connections }: ServerCounts): Counters {
      const all = sessions.list();
      const count = (state: string) => all.filter((session) => session.state === state).length;
      return {
        items: requests,
        bytesIn: bytesReceived,
        bytesOut: bytesSent,
        clients: connections,
        figures: [
          { label: "playing", value: count("playing"), unit: "" },
          { label: "publishing", value: count("recording"), unit: "" },
        ],
        note: `${paths.list().length} paths`,
      };
    },
  };
}

const sum = (counts: readonly number[] = []): number => counts.reduce((total, count) => total + count, 0);

function describeTrack(track: Track): RtspTrackView {
  switch (track.codec) {
    case "h264":
    case "h265":
      return { codec: track.codec, format: pictureSize(track) };
    case "aac":
    case "opus":
    case "pcmu":
    case "pcma":
      return {
        codec: track.codec,
        format: `${track.clockRate / 1_000} kHz, ${channelsText(track.channels)}`,
      };
    default:
      return track satisfies never;
  }
}

function channelsText(channels: number): string {
  if (channels === 1) return "mono";
  return channels === 2 ? "stereo" : `${channels} channels`;
}

function pictureSize(track: Extract<Track, { kind: "video" }>): string {
  const picture = pictureOf(track);
  return picture ? `${picture.width}×${picture.height}` : "";
}
