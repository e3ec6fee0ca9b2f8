import type { WebrtcViews } from "../../../../contract/services/webrtc.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useWebrtcView = viewsOf<WebrtcViews>("webrtc");

/** What a connected peer calls itself; undefined of others, and of those without a name. */
export const usePeerName = (peer: string | undefined): string | undefined =>
  useWebrtcView("peers", ({ peers }) => (peer === undefined ? undefined : peers.find(({ id }) => id === peer)?.name || undefined));
