import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** With a database of one digit. */
const select = /(select\r\n\$1\r\n)\d/i;

/** Passes connections on to a port, and can be told to answer by itself. */
export class Forwarder {
  port = 0;
  target: number;
  private readonly sockets = new Set<Socket>();
  /** SELECTs of which Redis has got a wrong one. */
  refused = 0;
  private toRefuse = 0;
  private answer: string | undefined = undefined;
  private readonly server: Server;

  constructor(target: number) {
    this.target = target;
    this.server = createServer((client) => this.open(client));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.port = (this.server.address() as { port: number }).port;
    onTestFinished(() => {
      this.server.close();
      for (const socket of this.sockets) socket.destroy();
    });
  }

  private open(client: Socket): void {
    const redis = connect(this.target, "127.0.0.1");
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      this.sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    redis.on("data", (bytes) => {
      if (this.answer === undefined) client.write(bytes);
    });
    client.on("data", (bytes) => {
      if (this.answer === undefined) redis.write(this.withoutDatabase(bytes));
      else client.write(this.answer);
    });
  }

  /** Ends all connections, and lets no other one through until there is a target again. */
  cut(): void {
    this.target = 0;
    for (const socket of this.sockets) socket.destroy();
  }

  /** To whatever is asked. */
  answerWith(answer: string | undefined): void {
    this.answer = answer;
  }

  /** So many times Redis refuses to select a database. */
  refuseDatabases(count: number): void {
    this.toRefuse = count;
  }

  private withoutDatabase(bytes: Buffer): Buffer {
    const text = bytes.toString("latin1");
    if (this.refused >= this.toRefuse || !select.test(text)) return bytes;
    this.refused++;
    return Buffer.from(text.replace(select, "$1x"), "latin1");
  }
}
