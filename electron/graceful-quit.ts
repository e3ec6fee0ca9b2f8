import { setTimeout as delay } from "node:timers/promises";
import type { App, PowerMonitor } from "electron";

export interface GracefulQuitOptions {
  readonly app: App;
  readonly powerMonitor: PowerMonitor;
  /** Stops everything; called once. */
  readonly close: () => Promise<void>;
  /** Timeout; after it the app quits without waiting, and the system ends the remaining processes. */
  readonly deadlineMs: number;
}

/** The same signal may arrive twice: from the terminal and from the launcher. */
const repeatAfterMs = 1_000;

/**
 * Runs `close` before the app quits, whatever the cause: the user, a signal, the end of the launcher or a system shutdown.
 * The result says whether quitting has begun.
 */
export function quitGracefully({ app, powerMonitor, close, deadlineMs }: GracefulQuitOptions): () => boolean {
  let state: "open" | "closing" | "closed" = "open";
  let closingSince = 0;
  app.on("before-quit", (event) => {
    if (state === "closed") return;
    event.preventDefault();
    if (state === "closing") return;
    state = "closing";
    closingSince = performance.now();
    void Promise.race([close().catch(console.error), delay(deadlineMs)]).then(() => {
      state = "closed";
      app.quit();
    });
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A second request quits immediately.
      if (state === "closing" && performance.now() - closingSince > repeatAfterMs) app.exit(1);
      else app.quit();
    });
  }
  process.once("disconnect", () => app.quit());

  // Linux and macOS wait a little for a program that asks for it; the event is missing in Electron's types.
  const onShutdown = (event: { preventDefault(): void }) => {
    event.preventDefault();
    app.quit();
  };
  powerMonitor.on("shutdown", onShutdown as () => void);
  // Windows ends a session without "before-quit".
  app.on("browser-window-created", (_event, window) => {
    window.on("session-end", () => app.quit());
  });
  return () => state !== "open";
}
