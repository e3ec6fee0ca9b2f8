import { type RtspFault, rtspFaultActions } from "../../../../../contract/services/rtsp-faults.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FailureError } from "../../../control/failure-error.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { FaultMenu } from "../../faults/fault-menu.tsx";
import { percentText } from "../../faults/fault-texts.ts";
import { FaultDialog } from "./fault-dialog.tsx";
import type { FaultToStart } from "./fault-draft.ts";
import { type FaultTarget, isFaultOf, useFaults } from "./fault-target.ts";

const [seconds, minute] = [
  { forMs: 10_000, text: "10 s" },
  { forMs: 60_000, text: "1 minute" },
];

/** The menu's faults, in groups: of packets, of the stream, of answers. */
const presets: readonly (readonly (readonly [title: string, fault: RtspFault, time: typeof minute])[])[] = [
  [
    [`Lose ${percentText(5)} of the packets`, { kind: "loss", percent: 5 }, minute],
    ["Delay by 0.5 s", { kind: "delay", delayMs: 500 }, minute],
    ["Jitter of up to 0.2 s", { kind: "jitter", jitterMs: 200 }, minute],
    [`Reorder ${percentText(5)} of the packets`, { kind: "reorder", percent: 5 }, minute],
  ],
  [
    ["Stall", { kind: "stall" }, seconds],
    ["Drop the key frames", { kind: "drop-key-frames" }, seconds],
    ["Freeze the picture", { kind: "freeze" }, seconds],
    ["Let timestamps jump by 10 s", { kind: "jump", jumpMs: 10_000 }, seconds],
  ],
  [
    ["Answer 401 Unauthorized", { kind: "status", status: 401 }, minute],
    ["Answer 404 Not Found", { kind: "status", status: 404 }, minute],
    ["Answer 454 Session Not Found", { kind: "status", status: 454 }, minute],
    ["Answer SETUP with 461", { kind: "status", status: 461 }, minute],
    ["Describe the stream wrongly", { kind: "description", flaw: "parameter-sets" }, minute],
  ],
];

const hasEnded = () => new FailureError({ code: "CALL_INVALID", message: "The session has ended", hint: "Choose one that is open." });

/** Starts faults of a path or session, and ends them. */
export function RtspFaultMenu({ target }: { readonly target: FaultTarget }) {
  const control = useControl();
  const active = useFaults(target);
  const start = ({ fault, ...rest }: FaultToStart) =>
    void attempt(
      target.kind === "path"
        ? control.action(rtspFaultActions, "rtsp", "path.fault", { path: target.path, fault, ...rest })
        : control
            .action(rtspFaultActions, "rtsp", "session.fault", {
              row: target.row,
              fault: fault as Exclude<RtspFault, { kind: "description" }>,
              ...rest,
            })
            .then(({ started }) => {
              if (!started) throw hasEnded();
            }),
    );
  const release = () =>
    void attempt(
      target.kind === "path"
        ? control.action(rtspFaultActions, "rtsp", "path.release", { path: target.path })
        : control.action(rtspFaultActions, "rtsp", "session.release", { row: target.row }),
    );
  const close =
    target.kind === "path"
      ? { title: `Close all connections, for ${seconds.text}`, forMs: seconds.forMs }
      : { title: "Close the connection without an answer", forMs: 1 };
  return (
    <FaultMenu
      id={`rtsp-${target.kind}`}
      what={target.kind}
      groups={[
        ...presets.map((group) =>
          group
            .filter(([, { kind }]) => isFaultOf(target, kind))
            .map(([title, fault, { forMs, text }]) => ({
              id: Object.values(fault).join("-"),
              title: `${title}, for ${text}`,
              start: () => start({ fault, forMs }),
            })),
        ),
        [{ id: "close", title: close.title, start: () => start({ fault: { kind: "close" }, forMs: close.forMs }) }],
      ]}
      hasActive={active.length > 0}
      onRelease={release}
      dialog={(opened, onClose) => <FaultDialog target={target} opened={opened} onClose={onClose} onStart={start} />}
    />
  );
}
