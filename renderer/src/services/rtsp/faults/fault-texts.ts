import {
  type DescriptionFlaw,
  httpReaderFaults,
  type RtspFault,
  type RtspFaultKind,
} from "../../../../../contract/services/rtsp-faults.ts";
import { type FaultWords, faultTimeText, percentText } from "../../faults/fault-texts.ts";
import type { FaultTarget } from "./fault-target.ts";

export const faultWords: Readonly<Record<RtspFaultKind, FaultWords>> = {
  loss: { title: "Lose packets", text: "Packets are left out at random." },
  delay: { title: "Delay", text: "Packets and reports are sent later, in their order." },
  jitter: { title: "Jitter", text: "Pictures and sound are sent later by a time that changes at random; packets keep their order." },
  reorder: { title: "Reorder packets", text: "Packets are sent after the three that follow them, at random." },
  stall: { title: "Stall", text: "No packets and no reports are sent. Requests are answered." },
  "drop-key-frames": { title: "Drop key frames", text: "Pictures that a decoder could start with are left out." },
  freeze: {
    title: "Freeze the picture",
    text: "The last key frame is sent in place of each picture, until the key frame after the fault. Sound and time go on.",
  },
  jump: { title: "Jump of timestamps", text: "Timestamps of packets and reports are later, or earlier; afterwards they jump back." },
  close: { title: "Close", text: "The connection is closed without an answer, as by a broken network." },
  status: {
    title: "Refuse requests",
    text: "454 is the answer to requests that name a session, 461 to SETUP, 401 and 404 to all but OPTIONS.",
  },
  description: { title: "Wrong description", text: "DESCRIBE is answered with a description that is not true." },
};

const ofRtp = "It is one of RTP: readers of HLS and MPEG-TS do not have it.";

/** Who does not have it, or why others cannot be started here; empty where there is nothing to say. */
export function faultNote(target: FaultTarget, kind?: RtspFaultKind): string {
  if (target.kind === "path") {
    if (kind === "status") return "Readers of HLS and MPEG-TS have 401 and 404 only.";
    return kind === undefined || httpReaderFaults.has(kind) ? "" : kind === "description" ? "HLS and MPEG-TS have no description." : ofRtp;
  }
  if (target.isMulticast) return "The packets are those of the whole group: start faults of packets on the path.";
  if (target.part === "http-reader") return "A reader over HTTP has the faults of its path, but for those of RTP. Start them in Paths.";
  return "";
}

export const flawTitles: Readonly<Record<DescriptionFlaw, string>> = {
  cut: "Cut in the middle",
  "parameter-sets": "Other parameter sets",
  "payload-types": "Other payload types",
  controls: "Tracks that do not exist",
};

export const statusTitles = {
  401: "401 Unauthorized",
  404: "404 Not Found",
  454: "454 Session Not Found",
  461: "461 Unsupported Transport",
};

/** For a badge: "loss 5 %". */
export function faultText(fault: RtspFault): string {
  switch (fault.kind) {
    case "loss":
      return `loss ${percentText(fault.percent)}`;
    case "delay":
      return `delay ${faultTimeText(fault.delayMs)}`;
    case "jitter":
      return `jitter ${faultTimeText(fault.jitterMs)}`;
    case "reorder":
      return `reorder ${percentText(fault.percent)}`;
    case "stall":
      return "stalled";
    case "drop-key-frames":
      return "no key frames";
    case "freeze":
      return "frozen";
    case "jump":
      return `jump ${fault.jumpMs < 0 ? "−" : "+"}${faultTimeText(Math.abs(fault.jumpMs))}`;
    case "close":
      return "closes";
    case "status":
      return `answers ${fault.status}`;
    case "description":
      return "wrong description";
    default:
      return fault satisfies never;
  }
}
