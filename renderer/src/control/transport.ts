import type { DownFrame, UpFrame } from "../../../contract/wire.ts";
import { preloadTransport } from "./preload-transport.ts";
import { webSocketTransport } from "./websocket-transport.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  /** Tried again at `retryAt` (milliseconds since the epoch). */
  | { readonly state: "lost"; readonly since: number; readonly attempt: number; readonly retryAt: number };

/** Whole frames in order while open; what is posted while not open is gone. */
export interface Transport {
  post(frame: UpFrame): void;
  /** To be called once. */
  open(handlers: { onFrame(frame: DownFrame): void; onConnection(connection: Connection): void }): void;
  /** Does not wait for `retryAt`. */
  retryNow(): void;
}

/** What the desktop shell's preload script puts into the page. */
export interface PreloadBridge {
  open(listener: (frame: DownFrame) => void): void;
  post(frame: UpFrame): void;
}
declare global {
  interface Window {
    readonly backlot?: PreloadBridge;
  }
}

export const chooseTransport = (page: Window): Transport =>
  page.backlot ? preloadTransport(page.backlot) : webSocketTransport({ url: controlUrl(page.location), open: (url) => new WebSocket(url) });

export function controlUrl(location: { readonly origin: string }): string {
  const url = new URL("/control", location.origin);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
