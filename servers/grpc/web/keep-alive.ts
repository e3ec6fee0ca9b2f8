import type { ServerHttp2Session } from "node:http2";

export interface KeepAliveTimes {
  /** Interval of the pings on an idle connection; 0 for none. */
  readonly keepaliveMs: number;
  /** For the answer; then the connection is closed. */
  readonly keepaliveTimeoutMs: number;
}

/** Closes an HTTP/2 connection whose client does not answer any more. */
export function keepSessionAlive(session: ServerHttp2Session, { keepaliveMs, keepaliveTimeoutMs }: KeepAliveTimes): void {
  if (keepaliveMs === 0) return;
  let deadline: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    if (deadline !== undefined) return;
    deadline = setTimeout(() => session.destroy(), keepaliveTimeoutMs);
    const wasSent = session.ping(() => {
      clearTimeout(deadline);
      deadline = undefined;
    });
    if (!wasSent) {
      clearTimeout(deadline);
      deadline = undefined;
    }
  }, keepaliveMs);
  session.once("close", () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
}
