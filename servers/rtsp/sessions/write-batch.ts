import type { Socket } from "node:net";
import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";

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

/** What a write counts beside its bytes until the client has taken it: a frame may have a few bytes. */
const writeOverheadBytes = 200;

/** Writes to one client: one system call for what is due together, in the turns of all, since a frame may be for thousands. */
export class BatchedWriter {
  readonly #socket: Socket;
  readonly #batch: WriteBatch;
  readonly #share: WorkShare;
  #isCorked = false;
  /** So far, and those of them that the client has taken. */
  #written = 0;
  #taken = 0;

  constructor(socket: Socket, batch: WriteBatch, connection: WorkConnection) {
    this.#socket = socket;
    this.#batch = batch;
    this.#share = connection.join(() => this.flushInTurn());
  }

  /** That the client has not taken yet, also of other writes to the socket. */
  get unsentBytes(): number {
    const { writableLength } = this.#socket;
    return writableLength === 0 ? 0 : writableLength + (this.#written - this.#taken) * writeOverheadBytes;
  }

  write(bytes: Buffer): void {
    const before = this.#written++;
    if (this.#isCorked) {
      this.#socket.write(bytes);
      return;
    }
    this.#isCorked = true;
    this.#socket.cork();
    this.#batch.add(this);
    // When the first of these is taken, all before it are.
    this.#socket.write(bytes, () => {
      this.#taken = before;
    });
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
