import type { RowMedia } from "../../../contract/traffic/row.ts";
import type { RtspSessionTrack } from "../../../contract/traffic/rtsp.ts";

export interface SessionTrack extends RtspSessionTrack {
  /** Packets that should have arrived when `lost` was reported; without it those that have, and those that are lost. */
  readonly expected?: number;
}

/** The figures of a session for its row; undefined before it has a track. */
export function mediaOf(tracks: readonly SessionTrack[]): RowMedia | undefined {
  const [first] = tracks;
  if (!first) return undefined;
  const reported = tracks.filter((track) => track.lost !== undefined);
  // Reports of a track have come, and do not say what it has lost in all.
  const isUnknown = tracks.some((track) => track.lost === undefined && track.lossFraction !== undefined);
  const lost = Math.max(0, sum(reported.map((track) => track.lost ?? 0)));
  const due = sum(reported.map((track) => track.expected ?? track.packets + (track.lost ?? 0)));
  const jitterMs = worst(tracks.map((track) => track.jitterMs));
  return {
    over: overOf(first.transport),
    ...(due > 0 && !isUnknown && { lossFraction: Math.min(1, lost / due) }),
    ...(jitterMs !== undefined && { jitterMs: Math.round(jitterMs * 1_000) / 1_000 }),
  };
}

/** "TCP, channels 0-1" without what is the track's own. */
const overOf = (transport: string): string => transport.split(",", 1)[0] ?? "";

/** Undefined where none is known. */
export function worst(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

export const sum = (counts: readonly number[] = []): number => counts.reduce((total, count) => total + count, 0);
