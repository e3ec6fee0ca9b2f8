import { setTimeout as delay } from "node:timers/promises";
import type { Handlers } from "../../../contract/operation.ts";
import {
  type TryOpened,
  type TryPeer,
  type TryRead,
  type TryReceived,
  tryIdleMs,
  type webrtcTryActions,
} from "../../../contract/services/webrtc-try.ts";
import { firstWithin } from "../../core/service/first-within.ts";
import { ServiceError } from "../../core/service/service-error.ts";

export interface TryCallsOptions {
  /** "ws://127.0.0.1:8443/ws" */
  readonly url: string;
}

const answerMs = 5_000;
/** Below the time after which a call of the dashboard fails. */
const waitMs = 1_000;
const mostMessages = 2_000;
/** Of all messages and of one answer, in characters: any client may send to the peers of a room. */
const mostText = 4 << 20;
const answeredText = 1 << 20;

/** The calls of the page's Try, one at a time. */
export class TryCalls {
  readonly #options: TryCallsOptions;
  #call: TryCall | undefined;
  #count = 0;

  constructor(options: TryCallsOptions) {
    this.#options = options;
  }

  async open(): Promise<TryOpened> {
    this.stop();
    const call = new TryCall(++this.#count, this.#options.url);
    this.#call = call;
    try {
      return await call.open();
    } catch (error) {
      call.end("it could not be opened");
      throw error;
    }
  }

  /** Throws CALL_INVALID for a call that has ended. */
  of(id: number): TryCall {
    if (this.#call?.id !== id) throw new ServiceError("CALL_INVALID", "This call has ended", "Call again.");
    return this.#call;
  }

  stop(): void {
    this.#call?.end("another call began");
    this.#call = undefined;
  }

  readonly actions: Handlers<typeof webrtcTryActions> = {
    "try.open": () => this.open(),
    "try.send": ({ call, peer, text }) => {
      this.of(call).send(peer, text);
      return null;
    },
    "try.read": ({ call, from }) => this.of(call).read(from),
    "try.close": ({ call }) => {
      if (this.#call?.id === call) this.stop();
      return null;
    },
  };
}

/** Two clients of the service in a room of their own. */
class TryCall {
  readonly id: number;
  readonly #url: string;
  readonly #beganMs = performance.now();
  readonly #sockets: WebSocket[] = [];
  readonly #messages: TryReceived[] = [];
  #text = 0;
  #ended: string | undefined;
  #idle: NodeJS.Timeout | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(id: number, url: string) {
    this.id = id;
    this.#url = url;
  }

  async open(): Promise<TryOpened> {
    const room = `try-${this.id}-${Math.random().toString(36).slice(2, 8)}`;
    // One after the other: the second one is told of the first.
    const peers = [await this.#join(0, room, "Try A"), await this.#join(1, room, "Try B")] as const;
    this.#stayOpen();
    return { call: this.id, room, url: this.#url, peers };
  }

  async #join(place: number, room: string, name: string): Promise<TryPeer> {
    const socket = new WebSocket(this.#url);
    this.#sockets.push(socket);
    const answers: Record<string, unknown>[] = [];
    let came = Promise.withResolvers<void>();
    let isJoined = false;
    socket.onmessage = ({ data }) => {
      const text = String(data);
      const at = Date.now();
      if (isJoined) this.#receive({ peer: place, at, text });
      else {
        answers.push(JSON.parse(text) as Record<string, unknown>);
        came.resolve();
        came = Promise.withResolvers();
      }
    };
    socket.onclose = ({ code }) => {
      came.resolve();
      this.end(`the connection of ${name} was closed (${code})`);
    };
    const answerOf = async (type: string): Promise<Record<string, unknown>> => {
      const until = performance.now() + answerMs;
      for (;;) {
        const found = answers.find((answer) => answer.type === type);
        if (found) return found;
        const refused = answers.find((answer) => answer.type === "error");
        if (refused) throw new ServiceError("CALL_INVALID", `${name} was refused: ${refused.message}`, "Look at Live for its messages.");
        if (this.#ended !== undefined || performance.now() > until)
          throw new ServiceError("CALL_INVALID", `${name} got no ${type}: ${this.#ended ?? "no answer"}`, "Look at Live and Logs.");
        await Promise.race([came.promise, delay(200)]);
      }
    };
    const welcome = await answerOf("welcome");
    const welcomedMs = this.#sinceMs();
    socket.send(JSON.stringify({ type: "join", room, name }));
    await answerOf("joined");
    isJoined = true;
    return {
      id: String(welcome.id),
      name,
      welcomedMs,
      joinedMs: this.#sinceMs(),
      iceServers: (welcome.iceServers ?? []) as TryPeer["iceServers"],
    };
  }

  #sinceMs(): number {
    return Math.round((performance.now() - this.#beganMs) * 10) / 10;
  }

  #receive(message: TryReceived): void {
    this.#text += message.text.length;
    if (this.#messages.length >= mostMessages || this.#text > mostText) this.end("it got too many messages");
    else this.#messages.push(message);
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  #stayOpen(): void {
    clearTimeout(this.#idle);
    if (this.#ended === undefined) this.#idle = setTimeout(() => this.end("the page has not read it for a while"), tryIdleMs);
  }

  send(peer: number, text: string): void {
    this.#stayOpen();
    const socket = this.#sockets[peer];
    if (this.#ended === undefined && socket?.readyState === WebSocket.OPEN) socket.send(text);
    else throw new ServiceError("CALL_INVALID", `This call has ended: ${this.#ended ?? "the connection is closed"}`, "Call again.");
  }

  async read(from: number): Promise<TryRead> {
    this.#stayOpen();
    if (this.#messages.length <= from && this.#ended === undefined) {
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(() => timer.resolve(), waitMs);
      await Promise.race([this.#wake.promise, timer.promise]);
      clearTimeout(timeout);
    }
    const rest = this.#messages.slice(from);
    const messages = firstWithin(rest, answeredText, ({ text }) => text.length);
    return {
      messages,
      next: this.#messages.length - (rest.length - messages.length),
      ...(this.#ended !== undefined && messages.length === rest.length && { ended: this.#ended }),
    };
  }

  end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    clearTimeout(this.#idle);
    for (const socket of this.#sockets) {
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    }
    this.#wakeUp();
  }
}
