import { setTimeout as delay } from "node:timers/promises";
import type { App, PowerMonitor } from "electron";

export interface GracefulQuitOptions {
  readonly app: App;
  readonly powerMonitor: PowerMonitor;
  /** Stops what runs; called once. */
  readonly close: () => Promise<void>;
  /** After it, quitting goes on without waiting: the system ends what is left with this process. */
  readonly deadlineMs: number;
}

/** The same signal may come twice at once: from the terminal, and passed on by the launcher. */
const repeatAfterMs = 1_000;

/**
 * Lets `close` finish before the app quits, whoever asked for it: the user, a signal, the launcher's end or the system's.
 * The result tells whether it has begun.
 */
export function quitGracefully({ app, powerMonitor, close, deadlineMs }: GracefulQuitOptions): () => boolean {
  let state: "open" | "closing" | "closed" = "open";
  let closingSince = 0;
  app.on("before-quit", (event) => {
    if (state === "closed") return;
    event.preventDefault();
    if (state === "closing") return;
    state = "closing";
    closingSince = Date.now();
    void Promise.race([close().catch(console.error), delay(deadlineMs)]).then(() => {
      state = "closed";
      app.quit();
    });
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // Who asks a second time does not want to wait.
      if (state === "closing" && Date.now() - closingSince > repeatAfterMs) app.exit(1);
      else app.quit();
    });
  }
  process.once("disconnect", () => app.quit());

  // Linux and macOS wait a little for a program that asks for it; its types leave the event out.
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
