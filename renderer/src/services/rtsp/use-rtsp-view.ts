import type { RtspViews } from "../../../../contract/services/rtsp.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useRtspView = viewsOf<RtspViews>("rtsp");
