import {
  type BinaryFrame,
  controlProtocol,
  type DownFrame,
  linkExpiredCode,
  maxFrameBytes,
  tokenProtocol,
} from "../../../contract/wire.ts";
import type { LinkToken } from "./link-token.ts";
import type { Connection, Transport } from "./transport.ts";

const firstWaitMs = 250;
const longestWaitMs = 5_000;

export const retryDelayMs = (attempt: number): number => Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));

/** The members of a browser's WebSocket that are used. */
export interface Socket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  readonly readyState: number;
  binaryType: BinaryType;
  /** The subprotocol that the server selected. */
  readonly protocol: string;
  send(text: string): void;
}
const socketOpen = 1;

/** In bytes; of a short text it is not counted, as it is within any limit. */
const utf8Length = (text: string): number => (text.length * 3 <= maxFrameBytes ? text.length : new TextEncoder().encode(text).length);

export interface WebSocketTransportOptions {
  readonly url: string;
  readonly token: LinkToken;
  readonly open: (url: string, protocols: string[]) => Socket;
  readonly now?: () => number;
}

/** As contract/wire.ts describes it; the payload shares the memory of the message. */
export function decodeBinaryFrame(message: ArrayBuffer): BinaryFrame {
  const headLength = new DataView(message).getUint32(0);
  const fields = JSON.parse(new TextDecoder().decode(new Uint8Array(message, 4, headLength))) as Omit<BinaryFrame, "payload">;
  return { ...fields, payload: new Uint8Array(message, 4 + headLength) };
}

/** Frames as JSON text, binary ones as binary messages; a lost connection is restored with increasing delays. */
export function webSocketTransport(options: WebSocketTransportOptions): Transport {
  const now = options.now ?? Date.now;
  /** Kept until it is closed: there is never a second one at the same time. */
  let socket: Socket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let lostSince: number | undefined;
  let listen: { onFrame(frame: DownFrame): void; onConnection(connection: Connection): void };

  function connect(): void {
    clearTimeout(timer);
    timer = undefined;
    const token = options.token.read();
    if (token === undefined) {
      listen.onConnection({ state: "refused", link: "missing" });
      return;
    }
    const next = options.open(options.url, [controlProtocol, tokenProtocol(token)]);
    socket = next;
    next.onopen = () => {
      // The server selected the token's protocol: it does not accept the token, and closes with a code for that.
      if (next.protocol !== controlProtocol) return;
      options.token.accepted(token);
      attempt = 0;
      lostSince = undefined;
      listen.onConnection({ state: "open" });
    };
    next.binaryType = "arraybuffer";
    next.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      listen.onFrame(typeof data === "string" ? (JSON.parse(data) as DownFrame) : decodeBinaryFrame(data));
    next.onclose = ({ code }) => {
      socket = undefined;
      if (code === linkExpiredCode) {
        if (options.token.refused(token)) {
          connect();
          return;
        }
        listen.onConnection({ state: "refused", link: "expired" });
        return;
      }
      attempt += 1;
      lostSince ??= now();
      const waitMs = retryDelayMs(attempt);
      listen.onConnection({ state: "lost", since: lostSince, attempt, retryAt: now() + waitMs });
      timer = setTimeout(connect, waitMs);
    };
  }

  return {
    post(frame) {
      if (socket?.readyState !== socketOpen) return true;
      const text = JSON.stringify(frame);
      if (utf8Length(text) > maxFrameBytes) return false;
      socket.send(text);
      return true;
    },
    open(handlers) {
      listen = handlers;
      listen.onConnection({ state: "connecting" });
      options.token.onChange(() => {
        if (!socket) connect();
      });
      connect();
    },
    retryNow() {
      if (!socket) connect();
    },
  };
}
