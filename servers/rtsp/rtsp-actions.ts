import type { Handlers } from "../../contract/operation.ts";
import type { RtspActions } from "../../contract/services/rtsp.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { ClipLibrary } from "./clips/clip-library.ts";
import type { PageViews } from "./observe/page-views.ts";
import type { SessionRecorder } from "./observe/session-recorder.ts";

export interface RtspActionParts {
  readonly recorder: SessionRecorder;
  readonly clips: ClipLibrary;
  readonly views: Pick<PageViews, "sessionHistory" | "pathHistory">;
  readonly sample: Pick<SampleSwitch, "actions">;
}

/** The page's actions. */
export const createRtspActions = ({ recorder, views, clips, sample }: RtspActionParts): Handlers<RtspActions> => ({
  "session.kick"({ row }) {
    const session = recorder.sessionOf(row);
    session?.end("closed from the dashboard", true);
    return { kicked: session !== undefined };
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
  ...sample.actions,
});
