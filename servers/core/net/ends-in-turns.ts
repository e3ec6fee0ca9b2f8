import type { Socket } from "node:net";
import type { WorkConnection, WorkShare } from "../turns/work-connection.ts";

/**
 * Ends of what clients send, with all that Node does then, in the turns of all. Thousands may go at once, and the event loop reads the ends of all of them
 * in one turn: there they only begin to wait.
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
    // Node says so by it that there is no more.
    const { push } = socket;
    let isEnding = false;
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk !== null) return push.call(socket, chunk, encoding);
      // One that is paused and resumed meanwhile comes to its end again.
      if (!isEnding) this.#add(() => endOf(socket, push));
      isEnding = true;
      return false;
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

function endOf(socket: Socket, push: Socket["push"]): void {
  if (socket.destroyed) return;
  push.call(socket, null);
  socket.read(0);
}
