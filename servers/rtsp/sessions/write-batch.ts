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
  /** So far, with what each write counts beside them; and as much of them as had been written at the last two looks, the older first. */
  #writtenBytes = 0;
  #looks: readonly [number, number] = [0, 0];

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

  /** Those of them that were written before the last two looks, of which this is another one. What many clients have yet to take is the same memory; what is old is not. */
  takeStaleBytes(): number {
    const [older, newer] = this.#looks;
    this.#looks = [newer, this.#writtenBytes];
    return Math.max(0, this.unsentBytes - (this.#writtenBytes - older));
  }

  write(bytes: Buffer): void {
    this.#writtenBytes += bytes.length + writeOverheadBytes;
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
