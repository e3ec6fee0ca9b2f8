import type { RtspActiveFault, RtspFaultKind, RtspFaultViews } from "../../../../../contract/services/rtsp-faults.ts";
import { useRtspView } from "../use-rtsp-view.ts";

/** What has faults: all sessions of a path, or one of them. */
export type FaultTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "session"; readonly row: number; readonly path: string; readonly isPublisher: boolean };

const none: readonly RtspActiveFault[] = [];

const faultsIn = ({ paths, sessions }: RtspFaultViews["faults"], target: FaultTarget): readonly RtspActiveFault[] =>
  (target.kind === "path"
    ? paths.find(({ path }) => path === target.path)?.faults
    : sessions.find(({ row }) => row === target.row)?.faults) ?? none;

/** The active faults of the target itself. */
export const useFaults = (target: FaultTarget): readonly RtspActiveFault[] =>
  useRtspView("faults", (view) => faultsIn(view, target)) ?? none;

/** A session has no descriptions, and one that publishes is sent no packets. */
export function isFaultOf(target: FaultTarget, kind: RtspFaultKind): boolean {
  if (target.kind === "path") return true;
  return target.isPublisher ? kind === "status" || kind === "close" : kind !== "description";
}
