import type { Socket } from "node:net";

/** Ends a connection on which nothing comes for a time. */
export class SilenceTimer {
  readonly #socket: Pick<Socket, "bytesRead">;
  readonly #silenceMs: number;
  /** What has come waits for its turn, or is of use. */
  readonly #mayGoOn: (hasRead: boolean) => boolean;
  readonly #onSilent: (reason: string) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    socket: Pick<Socket, "bytesRead">,
    silenceMs: number,
    mayGoOn: (hasRead: boolean) => boolean,
    onSilent: (reason: string) => void,
  ) {
    this.#socket = socket;
    this.#silenceMs = silenceMs;
    this.#mayGoOn = mayGoOn;
    this.#onSilent = onSilent;
  }

  restart(reason: string): void {
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#due(timer, reason), this.#silenceMs);
    this.#timer = timer;
  }

  refresh(): void {
    this.#timer?.refresh();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Where the process stood still, what has come meanwhile is read behind the timers that are due. */
  #due(timer: NodeJS.Timeout, reason: string): void {
    const { bytesRead } = this.#socket;
    setImmediate(() => {
      if (this.#timer !== timer) return;
      if (this.#mayGoOn(this.#socket.bytesRead > bytesRead)) timer.refresh();
      else this.#onSilent(reason);
    });
  }
}
