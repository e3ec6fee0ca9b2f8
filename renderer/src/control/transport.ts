import type { CommandsFrame, RunCommandFrame } from "../../../contract/menu-commands.ts";
import type { DownFrame, UpFrame } from "../../../contract/wire.ts";

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  /** The next attempt is at `retryAt` (milliseconds since the epoch). */
  | { readonly state: "lost"; readonly since: number; readonly attempt: number; readonly retryAt: number }
  /** Backlot does not accept the link of this page. The next attempt is made when a new link is opened or the user asks for it. */
  | { readonly state: "refused"; readonly link: "missing" | "expired" };

/** Whole frames in order while open; frames posted while it is not open are lost. */
export interface Transport {
  /** False for a frame that is larger than Backlot takes: it was not sent. */
  post(frame: UpFrame): boolean;
  /** To be called once. */
  open(handlers: { onFrame(frame: DownFrame): void; onConnection(connection: Connection): void }): void;
  /** Does not wait for `retryAt`. */
  retryNow(): void;
}

/** What the desktop shell's preload script puts into the page. */
export interface PreloadBridge {
  open(listener: (frame: DownFrame) => void): void;
  post(frame: UpFrame | CommandsFrame): void;
  /** Of the application menu. */
  onCommand(listener: (frame: RunCommandFrame) => void): void;
}
declare global {
  interface Window {
    readonly backlot?: PreloadBridge;
  }
}
