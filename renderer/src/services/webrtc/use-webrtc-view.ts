import type { WebrtcViews } from "../../../../contract/services/webrtc.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useWebrtcView = viewsOf<WebrtcViews>("webrtc");

/** What a peer calls itself that is connected, or was until lately; undefined of others, and of those without a name. */
export const usePeerName = (peer: string | undefined): string | undefined =>
  useWebrtcView("peers", ({ peers, left }) => {
    if (peer === undefined) return undefined;
    return (peers.find(({ id }) => id === peer) ?? left.find(({ id }) => id === peer))?.name || undefined;
  });
