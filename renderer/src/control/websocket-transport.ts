import type { DownFrame } from "../../../contract/wire.ts";
import type { Connection, Transport } from "./transport.ts";

const firstWaitMs = 250;
const longestWaitMs = 5_000;

export const retryDelayMs = (attempt: number): number => Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));

/** The part of a browser's WebSocket that is used. */
export interface Socket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  readonly readyState: number;
  send(text: string): void;
}
const socketOpen = 1;

/** Frames as JSON text; a lost connection is made again with growing waits until it holds. */
export function webSocketTransport(options: { url: string; open: (url: string) => Socket; now?: () => number }): Transport {
  const now = options.now ?? Date.now;
  let socket: Socket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let lostSince: number | undefined;
  let listen: { onFrame(frame: DownFrame): void; onConnection(connection: Connection): void };

  function connect(): void {
    const next = options.open(options.url);
    socket = next;
    next.onopen = () => {
      attempt = 0;
      lostSince = undefined;
      listen.onConnection({ state: "open" });
    };
    next.onmessage = (event) => listen.onFrame(JSON.parse(event.data as string) as DownFrame);
    next.onclose = () => {
      attempt += 1;
      lostSince ??= now();
      const waitMs = retryDelayMs(attempt);
      listen.onConnection({ state: "lost", since: lostSince, attempt, retryAt: now() + waitMs });
      timer = setTimeout(connect, waitMs);
    };
  }

  return {
    post(frame) {
      if (socket?.readyState === socketOpen) socket.send(JSON.stringify(frame));
    },
    open(handlers) {
      listen = handlers;
      listen.onConnection({ state: "connecting" });
      connect();
    },
    retryNow() {
      if (timer === undefined || socket?.readyState === socketOpen) return;
      clearTimeout(timer);
      timer = undefined;
      connect();
    },
  };
}
