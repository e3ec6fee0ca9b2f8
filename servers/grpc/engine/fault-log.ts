import type { Socket } from "node:net";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import type { Log } from "../../core/service/log.ts";

const linesAtOnce = 20;
const periodMs = 10_000;

/** Log lines about faulty connections. If there are many at once, some are written and the others are counted. */
export class FaultLog {
  readonly #log: Pick<Log, "warning">;
  readonly #closed = new WeakSet<ConnectionHead>();
  #written = 0;
  #leftOut = 0;
  #period: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, "warning">) {
    this.#log = log;
  }

  write(text: string): void {
    this.#period ??= setTimeout(() => this.flush(), periodMs);
    if (this.#written < linesAtOnce) {
      this.#written++;
      this.#log.warning(text);
    } else this.#leftOut++;
  }

  handshakeFailed({ message }: Error, socket: Socket): void {
    socket.on("error", () => {});
    this.write(`A TLS handshake from ${socket.remoteAddress}:${socket.remotePort} failed: ${message}`);
  }

  /** One line for a connection, whatever else goes wrong with it. */
  closed(connection: ConnectionHead, why: string): void {
    if (this.#closed.has(connection)) return;
    this.#closed.add(connection);
    this.write(`The connection from ${connection.remote} was closed: ${why}.`);
  }

  /** Ends the period: says how many lines were left out. */
  flush(): void {
    clearTimeout(this.#period);
    this.#period = undefined;
    if (this.#leftOut > 0) this.#log.warning(`${this.#leftOut.toLocaleString("en")} more lines about faulty connections were left out.`);
    this.#written = 0;
    this.#leftOut = 0;
  }
}
