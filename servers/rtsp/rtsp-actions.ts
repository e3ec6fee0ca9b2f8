import type { Handlers } from "../../contract/operation.ts";
import type { RtspActions } from "../../contract/services/rtsp.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { PageViews } from "./observe/page-views.ts";
import type { SessionRecorder } from "./observe/session-recorder.ts";

export interface RtspActionParts {
  readonly recorder: SessionRecorder;
  readonly views: Pick<PageViews, "sessionHistory" | "pathHistory">;
  readonly sample: Pick<SampleSwitch, "actions">;
}

/** The page's actions. */
export const createRtspActions = ({ recorder, views, sample }: RtspActionParts): Handlers<RtspActions> => ({
  "session.kick"({ row }) {
    const session = recorder.sessionOf(row);
    session?.end("closed from the dashboard", true);
    return { kicked: session !== undefined };
  },
  "session.history": ({ row }) => views.sessionHistory(row) ?? null,
  "path.history": ({ path }) => views.pathHistory(path) ?? null,
  ...sample.actions,
});
