import type { Socket } from "node:net";
import type { WorkConnection, WorkShare } from "../../core/service/work-turns.ts";

/** Joins what is written in one turn of the event loop, of all clients: several frames are often due together. */
export class WriteBatch {
  readonly #written = new Set<BatchedWriter>();
  readonly #flush = () => {
    const written = [...this.#written];
    this.#written.clear();
    for (const writer of written) writer.flushInTurn();
  };

  add(writer: BatchedWriter): void {
    if (this.#written.size === 0) process.nextTick(this.#flush);
    this.#written.add(writer);
  }
}

/** Writes to one client: one system call for what is due together, in the turns of all, since a frame may be for thousands. */
export class BatchedWriter {
  readonly #socket: Socket;
  readonly #batch: WriteBatch;
  readonly #share: WorkShare;
  #isCorked = false;

  constructor(socket: Socket, batch: WriteBatch, connection: WorkConnection) {
    this.#socket = socket;
    this.#batch = batch;
    this.#share = connection.join(() => this.flushInTurn());
  }

  write(bytes: Buffer): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      this.#batch.add(this);
    }
    this.#socket.write(bytes);
  }

  flushInTurn(): void {
    if (!this.#isCorked) return;
    if (this.#share.isOver) this.#share.later();
    else this.flush();
  }

  /** What waits goes before what is written next. */
  flush(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket.uncork();
  }
}
