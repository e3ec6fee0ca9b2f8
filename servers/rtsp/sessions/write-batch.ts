import type { Socket } from "node:net";

/** Joins what is written to a client during one turn of the event loop into one system call: several frames are often due together. */
export class WriteBatch {
  readonly #corked = new Set<Socket>();
  readonly #flush = () => {
    for (const socket of this.#corked) socket.uncork();
    this.#corked.clear();
  };

  write(socket: Socket, bytes: Buffer): void {
    if (!this.#corked.has(socket)) {
      if (this.#corked.size === 0) process.nextTick(this.#flush);
      this.#corked.add(socket);
      socket.cork();
    }
    socket.write(bytes);
  }
}
