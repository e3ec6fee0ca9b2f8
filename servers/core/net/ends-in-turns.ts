import type { Socket } from "node:net";
import type { WorkConnection, WorkShare } from "../turns/work-connection.ts";

/**
 * Ends of what clients send, and resets, with all that Node does then, in the turns of all. Thousands may go at once, and the event loop reads the ends of
 * all of them in one turn: there they only begin to wait.
 */
export class EndsInTurns {
  readonly #waiting = new Set<() => void>();
  readonly #share: WorkShare;

  /** `service` is a part in the turns of all that is for these alone. */
  constructor(service: WorkConnection) {
    this.#share = service.join(() => this.#endNext());
  }

  /** To be called before the socket is read. */
  take(socket: Socket): void {
    const { push, destroy } = socket;
    let hasEnded = false;
    let isWaiting = false;
    let failure: Error | undefined;
    const end = () => {
      isWaiting = false;
      if (socket.destroyed) return;
      if (failure) destroy.call(socket, failure);
      else {
        push.call(socket, null);
        socket.read(0);
      }
    };
    const wait = () => {
      if (isWaiting) return;
      isWaiting = true;
      this.#add(end);
    };
    // Node says so by it that there is no more.
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk !== null) return push.call(socket, chunk, encoding);
      // One that is paused and resumed meanwhile comes to its end again.
      if (!hasEnded) wait();
      hasEnded = true;
      return false;
    };
    // And by it that the connection was reset. Our own code destroys it at once.
    socket.destroy = (error?: Error) => {
      if (!isOfRead(error)) return destroy.call(socket, error);
      failure ??= error;
      wait();
      return socket;
    };
  }

  #add(end: () => void): void {
    this.#waiting.add(end);
    if (this.#waiting.size > 1) return;
    if (this.#share.isOver) this.#share.later();
    else this.#endNext();
  }

  /** One at a time: Node does most of it in ticks, which come before the next one. */
  #endNext(): void {
    const [end] = this.#waiting;
    if (!end) return;
    this.#waiting.delete(end);
    end();
    if (this.#waiting.size > 0) this.#share.later();
  }
}

/** Not one of a write, which is made where it is written. */
const isOfRead = (error: NodeJS.ErrnoException | undefined): error is NodeJS.ErrnoException => error?.syscall === "read";
