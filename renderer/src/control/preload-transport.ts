import type { PreloadBridge, Transport } from "./transport.ts";

/** Over Electron IPC: the window and the supervisor live and die together, so it is never lost. */
export const preloadTransport = (bridge: PreloadBridge): Transport => ({
  post: (frame) => bridge.post(frame),
  open({ onFrame, onConnection }) {
    bridge.open(onFrame);
    onConnection({ state: "open" });
  },
  retryNow: () => {},
});
