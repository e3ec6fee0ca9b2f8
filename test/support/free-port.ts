import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ranges from which systems pick ports, so that nobody is given it before it is listened on, or while it is free between two runs. */
const range = { first: 20_000, count: 12_000 };
let tried = 0;

/** A TCP port of 127.0.0.1 for a program that must be told its port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + ((process.pid * 101 + tried++) % range.count);
    const server = createServer();
    const listening = once(server.listen(port, "127.0.0.1"), "listening");
    try {
      await listening;
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
