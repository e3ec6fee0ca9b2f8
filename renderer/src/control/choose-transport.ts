import { isLargerThan } from "../../../contract/frame-size.ts";
import { maxFrameBytes } from "../../../contract/wire.ts";
import { createLinkToken } from "./link-token.ts";
import type { PreloadBridge, Transport } from "./transport.ts";
import { webSocketTransport } from "./websocket-transport.ts";

export const chooseTransport = (page: Window): Transport =>
  page.backlot
    ? preloadTransport(page.backlot)
    : webSocketTransport({
        url: controlUrl(page.location),
        token: createLinkToken(page),
        open: (url, protocols) => new WebSocket(url, protocols),
      });

/** Over Electron IPC: window and supervisor belong to one program, so the connection is never lost. */
const preloadTransport = (bridge: PreloadBridge): Transport => ({
  post(frame) {
    if (isLargerThan(frame, maxFrameBytes)) return false;
    bridge.post(frame);
    return true;
  },
  open({ onFrame, onConnection }) {
    bridge.open(onFrame);
    onConnection({ state: "open" });
  },
  retryNow: () => {},
});

export function controlUrl(location: { readonly origin: string }): string {
  const url = new URL("/control", location.origin);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
