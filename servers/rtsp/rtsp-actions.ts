import type { Handlers } from "../../contract/operation.ts";
import type { RtspActions } from "../../contract/services/rtsp.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { TryPlayer } from "./client/try-player.ts";
import type { ClipLibrary } from "./clips/clip-library.ts";
import type { FaultControl } from "./faults/fault-control.ts";
import type { Faults } from "./faults/faults.ts";
import type { PageViews } from "./observe/page-views.ts";
import type { SessionRecorder } from "./observe/session-recorder.ts";
import type { RtspSession } from "./sessions/rtsp-session.ts";
import type { SessionTable } from "./sessions/session-table.ts";

export interface RtspActionParts {
  readonly recorder: SessionRecorder;
  readonly clips: ClipLibrary;
  readonly sessions: SessionTable;
  readonly faults: Faults;
  readonly faultControl: FaultControl;
  readonly views: Pick<PageViews, "sessionHistory" | "pathHistory">;
  readonly player: Pick<TryPlayer, "play" | "stop">;
  readonly sample: Pick<SampleSwitch, "actions">;
}

/** The page's actions. */
export function createRtspActions({
  recorder,
  sessions,
  faults,
  faultControl,
  views,
  clips,
  player,
  sample,
}: RtspActionParts): Handlers<RtspActions> {
  const sessionOf = (row: number): RtspSession | undefined => sessions.list().find((session) => recorder.entryOf(session)?.id === row);
  return {
    "session.kick"({ row }) {
      const session = recorder.sessionOf(row);
      if (!session || session.id === "") return { kicked: false };
      session.end("closed from the dashboard", "server");
      return { kicked: true };
    },
    "session.history": ({ row }) => views.sessionHistory(row) ?? null,
    "path.history": ({ path }) => views.pathHistory(path) ?? null,
    "file.begin": async ({ name, bytes }) => ({ upload: await clips.begin(name, bytes) }),
    async "file.put"({ upload, base64 }) {
      await clips.put(upload, base64);
      return null;
    },
    "file.end": async ({ upload }) => ({ path: await clips.end(upload) }),
    async "file.cancel"({ upload }) {
      await clips.cancel(upload);
      return null;
    },
    async "file.remove"({ path }) {
      await clips.remove(path);
      return null;
    },
    async "file.rename"({ path, to }) {
      await clips.rename(path, to);
      return null;
    },
    "path.fault"({ path, ...start }) {
      faultControl.startOnPath(path, start);
      return null;
    },
    "session.fault"({ row, ...start }) {
      const session = sessionOf(row);
      return { started: session !== undefined && faultControl.startOnSession(session, start) };
    },
    "path.release": ({ path }) => ({ released: faults.stop(path) }),
    "session.release"({ row }) {
      const session = sessionOf(row);
      return { released: session !== undefined && faults.stop(session) };
    },
    async "try.play"(params) {
      await player.play(params);
      return null;
    },
    async "try.stop"() {
      await player.stop();
      return null;
    },
    ...sample.actions,
  };
}
