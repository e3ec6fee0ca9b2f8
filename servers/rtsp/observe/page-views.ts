import type { RtspPathHistory, RtspPathView, RtspSessionHistory, RtspSessionView, RtspViews } from "../../../contract/services/rtsp.ts";
import type { Counters } from "../../core/service/service.ts";
import { RecentSamples } from "../../core/traffic/recent-samples.ts";
import type { Faults, FaultTarget } from "../faults/faults.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { isPublisher, type Path, type Paths } from "../streams/paths.ts";
import type { Previews } from "./previews.ts";
import type { RecordedSession } from "./session-entry.ts";
import { sum, worst } from "./session-media.ts";
import type { SessionRecorder } from "./session-recorder.ts";
import { describeTrack } from "./track-view.ts";

/** Rows of a view; the rest is counted. */
const mostShown = 200;
/** Sessions that have ended and still have a history. */
const mostEnded = 200;
/** Paths and sessions with faults. */
const mostFaulty = 500;

export interface PageViewsOptions {
  readonly paths: Paths;
  readonly sessions: SessionTable;
  readonly recorder: SessionRecorder;
  readonly faults: Faults;
  readonly previews: Pick<Previews, "readersOf">;
  readonly view: <Name extends "paths" | "sessions" | "faults">(name: Name, value: RtspViews[Name]) => void;
}

export interface ServerCounts {
  readonly requests: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly connections: number;
}

type SeriesOf<History> = Exclude<keyof History, "at"> & string;

/** Counts of a second ago. */
interface PathSample {
  atMs: number;
  bytes: number;
  frames: number;
  readonly history: RecentSamples<SeriesOf<RtspPathHistory>>;
}

interface SessionSample {
  atMs: number;
  bytes: number;
  packets: number;
  lost: number;
  readonly history: RecentSamples<SeriesOf<RtspSessionHistory>>;
}

interface SessionRates extends Pick<RtspSessionView, "lossFraction" | "jitterMs"> {
  readonly bitRate: number;
}

export type PageViews = ReturnType<typeof createPageViews>;

/** What the page shows without a call, renewed once a second. */
export function createPageViews({ paths, sessions, recorder, faults, previews, view }: PageViewsOptions) {
  const pathSamples = new Map<Path["source"], PathSample>();
  /** By row: of those that have ended, the newest are kept. */
  const sessionSamples = new Map<number, SessionSample>();
  let shown = "";

  function describePath({ name, source, since }: Path): RtspPathView {
    const { stream } = source;
    const bytes = sum(stream?.counts.map((count) => count.bytes));
    const frames =
      stream && stream.keyTrack >= 0 ? (stream.counts[stream.keyTrack]?.frames ?? 0) : sum(stream?.counts.map((count) => count.frames));
    const now = performance.now();
    const last = pathSamples.get(source) ?? { atMs: now, bytes, frames, history: new RecentSamples(["bitRate", "frameRate"]) };
    // A part of a second, where the source began or paused, would be shown as a whole one.
    const perSecond = stream && stream.runsSince <= last.atMs ? rateSince(last, now) : () => 0;
    const bitRate = Math.round(perSecond((bytes - last.bytes) * 8));
    const frameRate = perSecond(frames - last.frames);
    last.history.add(Date.now() / 1_000, { bitRate, frameRate });
    pathSamples.set(source, Object.assign(last, { atMs: now, bytes, frames }));
    return {
      name,
      source: { kind: source.kind, title: source.title },
      ready: stream !== undefined,
      since,
      tracks: stream?.tracks.map(describeTrack) ?? [],
      readers: stream ? stream.readers - previews.readersOf(stream) : 0,
      bytesReceived: bytes,
      bytesSent: stream?.bytesSent ?? 0,
      bitRate,
      frameRate,
      groupFrames: stream?.groupFrames ?? 0,
      groupSeconds: stream?.groupSeconds ?? 0,
    };
  }

  /** Of each session once a second: all have a history, whether they are shown or not. */
  function sampleSession(session: RecordedSession, row: number): SessionRates {
    const { received, sent } = session.mediaBytes;
    const tracks = session.describeTracks();
    const now = {
      atMs: performance.now(),
      bytes: received + sent,
      packets: sum(tracks.map(({ packets }) => packets)),
      lost: sum(tracks.map(({ lost }) => lost ?? 0)),
    };
    const last = sessionSamples.get(row) ?? { ...now, history: new RecentSamples(["bitRate", "lossPercent", "jitterMs"]) };
    const bitRate = Math.round(rateSince(last, now.atMs)((now.bytes - last.bytes) * 8));
    // RTMP loses nothing.
    const isCounted = tracks.some(({ lost }) => lost !== undefined);
    const lossFraction =
      session.role === "publish" ? (isCounted ? lossSince(last, now) : undefined) : worst(tracks.map((track) => track.lossFraction));
    const jitterMs = worst(tracks.map((track) => track.jitterMs));
    last.history.add(Date.now() / 1_000, {
      bitRate,
      ...(lossFraction !== undefined && { lossPercent: lossFraction * 100 }),
      ...(jitterMs !== undefined && { jitterMs }),
    });
    sessionSamples.set(row, Object.assign(last, now));
    return {
      bitRate,
      ...(lossFraction !== undefined && { lossFraction }),
      ...(jitterMs !== undefined && { jitterMs: Math.round(jitterMs * 1_000) / 1_000 }),
    };
  }

  const rowOf = (session: RecordedSession): number => recorder.entryOf(session)?.id ?? 0;

  function forgetEnded(open: ReadonlyMap<number, unknown>): void {
    let ended = sessionSamples.size - open.size;
    for (const row of sessionSamples.keys()) {
      if (ended <= mostEnded) return;
      if (!open.has(row)) {
        sessionSamples.delete(row);
        ended--;
      }
    }
  }

  function describeSessions(): RtspViews["sessions"] {
    const all = recorder.sessions();
    const newest = all.slice(-mostShown).reverse();
    const rates = new Map<number, SessionRates>();
    for (const session of all) {
      const row = rowOf(session);
      if (session.state !== "ready") rates.set(row, sampleSession(session, row));
    }
    forgetEnded(rates);
    return {
      sessions: newest.map((session): RtspSessionView => {
        const row = rowOf(session);
        return {
          session: session.id,
          row,
          path: session.path,
          role: session.role,
          state: session.state,
          transport: session.describeTracks()[0]?.transport ?? "",
          unsentBytes: session.unsentBytes ?? 0,
          ...(rates.get(row) ?? { bitRate: 0 }),
        };
      }),
      more: all.length - newest.length,
    };
  }

  function showFaults(): void {
    const ofPaths: RtspViews["faults"]["paths"][number][] = [];
    const ofSessions: RtspViews["faults"]["sessions"][number][] = [];
    const rows = new Map<FaultTarget, number>(sessions.list().map((session) => [session, recorder.entryOf(session)?.id ?? 0]));
    for (const { target, faults: active } of faults.list(mostFaulty)) {
      const shownFaults = active.map(({ fault, until }) => ({ fault, until }));
      if (typeof target === "string") ofPaths.push({ path: target, faults: shownFaults });
      else ofSessions.push({ row: rows.get(target) ?? 0, faults: shownFaults });
    }
    view("faults", { paths: ofPaths, sessions: ofSessions });
  }
  faults.onChange(showFaults);
  showFaults();

  return {
    show(): void {
      const all = paths.list();
      const value: RtspViews["paths"] = {
        paths: all.slice(0, mostShown).map(describePath),
        more: Math.max(0, all.length - mostShown),
      };
      const sources = new Set(all.map(({ source }) => source));
      for (const known of pathSamples.keys()) if (!sources.has(known)) pathSamples.delete(known);
      view("paths", value);
      const sessionView = describeSessions();
      const text = JSON.stringify(sessionView);
      if (text === shown) return;
      shown = text;
      view("sessions", sessionView);
    },
    /** Undefined where it has neither played nor published. */
    sessionHistory: (row: number): RtspSessionHistory | undefined => sessionSamples.get(row)?.history.read(),
    pathHistory(name: string): RtspPathHistory | undefined {
      const source = paths.get(name)?.source;
      return source && pathSamples.get(source)?.history.read();
    },
    counters({ requests, bytesReceived, bytesSent, connections }: ServerCounts): Counters {
      const all = sessions.list();
      const count = (state: string) => all.filter((session) => session.state === state).length;
      return {
        // Streams are counted in Mbit.
        items: ((bytesReceived + bytesSent) * 8) / 1e6,
        bytesIn: bytesReceived,
        bytesOut: bytesSent,
        clients: connections,
        figures: [
          { label: "playing", value: count("playing"), unit: "" },
          { label: "publishing", value: paths.list().filter(({ source }) => isPublisher(source.kind)).length, unit: "" },
          { label: "answered", value: requests, unit: "req/s", perSecond: true },
        ],
        note: `${paths.list().length} paths`,
      };
    },
  };
}

/** Rounded to a tenth. */
const rateSince =
  ({ atMs }: Pick<PathSample, "atMs">, nowMs: number) =>
  (count: number): number =>
    nowMs > atMs ? Math.round((count * 10_000) / (nowMs - atMs)) / 10 : 0;

/** Of the packets of a publisher since the last time; undefined where none was due. */
function lossSince(last: SessionSample, now: Pick<SessionSample, "packets" | "lost">): number | undefined {
  const lost = Math.max(0, now.lost - last.lost);
  const due = now.packets - last.packets + lost;
  return due > 0 ? lost / due : undefined;
}
