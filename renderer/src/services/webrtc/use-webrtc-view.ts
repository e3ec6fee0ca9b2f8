import type { WebrtcViews } from "../../../../contract/services/webrtc.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useWebrtcView = viewsOf<WebrtcViews>("webrtc");
