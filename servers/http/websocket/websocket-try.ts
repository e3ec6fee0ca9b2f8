import type { ClientRequest, IncomingMessage } from "node:http";
import { type RawData, WebSocket } from "ws";
import type { Handlers } from "../../../contract/operation.ts";
import type { WebSocketTried, WebSocketTryMessage, webSocketTryActions } from "../../../contract/services/websocket-try.ts";
import type { HttpRecorder } from "../../core/http/record/http-recorder.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";

const handshakeMs = 15_000;
const largestMessage = 64 << 20;
/** Unsent bytes above which nothing more is sent. */
const mostUnsent = 4 << 20;
const keptMessages = 500;
const keptBytes = 4 << 20;
const keptMessageBytes = 64 << 10;
/** Changes of the counts in this time are published at once. */
const publishEveryMs = 100;

interface WebSocketTryOptions {
  readonly port: number;
  readonly recorder: HttpRecorder;
  readonly show: (tried: WebSocketTried) => void;
}

export interface WebSocketTry {
  readonly actions: Handlers<typeof webSocketTryActions>;
  /** Closes it with this reason. Whether there was one. */
  leave(why: string): boolean;
  close(): void;
}

type Tried = Exclude<WebSocketTried, { readonly state: "untried" }>;
type Ending =
  | { readonly state: "closed"; readonly code: number; readonly reason: string }
  | { readonly state: "refused"; readonly status: number; readonly reason: string }
  | { readonly state: "failed"; readonly problem: string };

/** The WebSocket of the Try tab: one at a time, to the service's own port; it stays open while any page of Backlot is. */
export function createWebSocketTry({ port, recorder, show }: WebSocketTryOptions): WebSocketTry {
  let current: TrySocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  const publish = () => {
    clearTimeout(timer);
    timer = undefined;
    show(current?.tried() ?? { state: "untried" });
  };
  const publishSoon = () => {
    timer ??= setTimeout(publish, publishEveryMs);
  };

  async function open({ target, headers, protocols }: Parameters<WebSocketTry["actions"]["socket.open"]>[0]): Promise<void> {
    current?.cut();
    const opened = new TrySocket(target, (isCount) => {
      if (opened !== current) return;
      if (isCount) publishSoon();
      else publish();
    });
    current = opened;
    await opened.open({ port, recorder, headers, protocols });
  }
  const openSocket = (): TrySocket => {
    if (current?.isOpen) return current;
    throw new ServiceError("CALL_INVALID", "The WebSocket is not open", "Connect first.");
  };

  publish();
  return {
    actions: {
      async "socket.open"(params) {
        await open(params);
        return null;
      },
      "socket.send"({ type, content }) {
        openSocket().send(type, Buffer.from(content, type === "text" ? "utf8" : "base64"));
        return null;
      },
      "socket.close"({ cut, code, reason }) {
        if (cut) current?.cut();
        else openSocket().close(code, reason);
        return null;
      },
      "socket.messages": ({ limit }) => ({ messages: current?.newest(limit) ?? [] }),
    },
    leave(why) {
      if (!current || current.hasEnded) return false;
      // RFC 6455 §7.4.1: going away.
      if (current.isOpen) current.close(1001, why);
      else current.cut();
      return true;
    },
    close() {
      clearTimeout(timer);
      current?.cut();
    },
  };
}

interface OpenOptions {
  readonly port: number;
  readonly recorder: HttpRecorder;
  readonly headers: readonly (readonly [string, string])[];
  readonly protocols: readonly string[];
}

class TrySocket {
  readonly #at = Date.now();
  readonly #startedAt = performance.now();
  readonly #target: string;
  readonly #changed: (isCount: boolean) => void;
  #socket: WebSocket | undefined;
  #row: number | undefined;
  #opened: { readonly protocol: string; readonly openedMs: number } | undefined;
  #ended: (Ending & { readonly tookMs: number }) | undefined;
  #isClosing = false;
  #sent = 0;
  #received = 0;
  #kept: WebSocketTryMessage[] = [];
  #keptBytes = 0;

  /** `changed` is called with true if only the counts did. */
  constructor(target: string, changed: (isCount: boolean) => void) {
    this.#target = target;
    this.#changed = changed;
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Resolves when it is open or has ended. */
  open({ port, recorder, headers, protocols }: OpenOptions): Promise<void> {
    return new Promise((resolve) => {
      const settled = () => {
        this.#changed(false);
        resolve();
      };
      const end = (ending: Ending) => {
        if (this.#ended) return;
        this.#ended = { ...ending, tookMs: this.#elapsedMs() };
        settled();
      };
      let unwatch = () => {};
      try {
        const socket = new WebSocket(`ws://127.0.0.1:${port}${this.#target}`, [...protocols], {
          headers: fieldsOf(headers),
          handshakeTimeout: handshakeMs,
          maxPayload: largestMessage,
          perMessageDeflate: false,
          finishRequest: (request: ClientRequest) => {
            request.on("socket", (connection) =>
              connection.once("connect", () => {
                unwatch = recorder.watch(`127.0.0.1:${connection.localPort}`, (row) => {
                  this.#row = row;
                });
              }),
            );
            request.end();
          },
        });
        this.#socket = socket;
        socket.on("open", () => {
          unwatch();
          this.#opened = { protocol: socket.protocol, openedMs: this.#elapsedMs() };
          settled();
        });
        socket.on("unexpected-response", (request: ClientRequest, response: IncomingMessage) => {
          unwatch();
          end({ state: "refused", status: response.statusCode ?? 0, reason: response.statusMessage ?? "" });
          request.destroy();
        });
        socket.on("message", (data, isBinary) => {
          this.#received++;
          this.#keep("received", isBinary ? "binary" : "text", asBuffer(data));
        });
        socket.on("error", (error) => {
          unwatch();
          // After the opening its code and reason follow.
          if (!this.#opened) end({ state: "failed", problem: error.message });
        });
        socket.on("close", (code, reason) => end({ state: "closed", code, reason: reason.toString() }));
      } catch (error) {
        end({ state: "failed", problem: errorText(error) });
      }
      this.#changed(false);
    });
  }

  send(type: "text" | "binary", content: Buffer): void {
    const socket = this.#socket;
    if (!socket) return;
    if (socket.bufferedAmount > mostUnsent)
      throw new ServiceError("CALL_INVALID", "The service does not read", "Wait until it has read what was sent.");
    socket.send(content, { binary: type === "binary" });
    this.#sent++;
    this.#keep("sent", type, content);
  }

  close(code: number | undefined, reason: string): void {
    this.#isClosing = true;
    this.#changed(false);
    // A reason needs a code.
    this.#socket?.close(code ?? (reason === "" ? undefined : 1000), reason === "" ? undefined : reason);
  }

  /** Without a close frame. */
  cut(): void {
    this.#socket?.terminate();
  }

  newest(limit: number): readonly WebSocketTryMessage[] {
    return this.#kept.slice(-limit).reverse();
  }

  tried(): Tried {
    const facts = {
      at: this.#at,
      target: this.#target,
      sent: this.#sent,
      received: this.#received,
      ...(this.#row !== undefined && { row: this.#row }),
    };
    if (this.#ended) return { ...facts, ...this.#ended };
    if (!this.#opened) return { ...facts, state: "connecting" };
    return { ...facts, ...this.#opened, state: this.#isClosing ? "closing" : "open" };
  }

  #keep(direction: WebSocketTryMessage["direction"], type: WebSocketTryMessage["type"], content: Buffer): void {
    const base64 = content.toString("base64", 0, keptMessageBytes);
    const place = this.#sent + this.#received;
    this.#kept.push({ place, direction, type, atMs: this.#elapsedMs(), bytes: content.length, base64 });
    this.#keptBytes += base64.length;
    while (this.#kept.length > keptMessages || (this.#keptBytes > keptBytes && this.#kept.length > 1)) {
      this.#keptBytes -= this.#kept.shift()?.base64.length ?? 0;
    }
    this.#changed(true);
  }

  #elapsedMs(): number {
    return Math.round((performance.now() - this.#startedAt) * 1_000) / 1_000;
  }
}

/** Repeated fields are sent as such. */
function fieldsOf(headers: OpenOptions["headers"]): Record<string, string[]> {
  const fields = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of headers) {
    const known = fields.get(name.toLowerCase());
    if (known) known.values.push(value);
    else fields.set(name.toLowerCase(), { name, values: [value] });
  }
  const all = Object.fromEntries(Array.from(fields.values(), ({ name, values }) => [name, values]));
  return fields.has("user-agent") ? all : { "User-Agent": ["backlot"], ...all };
}

function asBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
