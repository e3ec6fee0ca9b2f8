import {
  httpReaderFaults,
  multicastSessionFaults,
  publisherFaults,
  type RtspActiveFault,
  type RtspFault,
  type RtspFaultKind,
  type RtspFaultViews,
} from "../../../../../contract/services/rtsp-faults.ts";
import { useRtspView } from "../use-rtsp-view.ts";

/** What a row of the list stands for. */
export type SessionPart = "player" | "publisher" | "rtmp-publisher" | "http-reader";

/** What has faults: all sessions of a path, or one of them. */
export type FaultTarget =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "session"; readonly row: number; readonly path: string; readonly part: SessionPart; readonly isMulticast?: boolean };

const none: readonly RtspActiveFault[] = [];

const faultsIn = ({ paths, sessions }: RtspFaultViews["faults"], target: FaultTarget): readonly RtspActiveFault[] =>
  (target.kind === "path"
    ? paths.find(({ path }) => path === target.path)?.faults
    : sessions.find(({ row }) => row === target.row)?.faults) ?? none;

/** The active faults of the target itself. */
export const useFaults = (target: FaultTarget): readonly RtspActiveFault[] =>
  useRtspView("faults", (view) => faultsIn(view, target)) ?? none;

/** Whether a fault can be started on it: a session has no descriptions, and not each has packets of its own. */
export function isFaultOf(target: FaultTarget, kind: RtspFaultKind): boolean {
  if (target.kind === "path") return true;
  if (target.isMulticast) return multicastSessionFaults.has(kind);
  switch (target.part) {
    case "player":
      return kind !== "description";
    case "publisher":
      return publisherFaults.has(kind);
    case "rtmp-publisher":
    case "http-reader":
      return false;
    default:
      return target.part satisfies never;
  }
}

/** Whether it has this fault of its path. */
export function hasFaultOfPath(target: FaultTarget, fault: RtspFault): boolean {
  if (target.kind === "path") return true;
  switch (target.part) {
    case "player":
      return true;
    case "publisher":
      return publisherFaults.has(fault.kind);
    case "rtmp-publisher":
      return false;
    case "http-reader":
      return httpReaderFaults.has(fault.kind) && (fault.kind !== "status" || fault.status < 410);
    default:
      return target.part satisfies never;
  }
}
