/**
 * Many readers of one event stream, on plain sockets: `node sse-clients.ts PORT TARGET CLIENTS`.
 * Prints "open" once every client has its answer's head. Each line on stdin ends a period and prints its figures as JSON.
 */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { SsePeriod } from "../sse-bench.ts";

const [port = 0, target = "", clients = 0] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
/** Connecting all at once would measure the backlog of the listener. */
const connectingAtOnce = 50;
const longestEvent = 4_096;

let period = newPeriod();
let open = 0;

function newPeriod() {
  return { begunAt: performance.now(), events: 0, agesMs: [] as number[] };
}

function follow(socket: Socket, onOpen: () => void): void {
  let carry = "";
  let headSeen = false;
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    carry += chunk;
    if (!headSeen) {
      const end = carry.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!carry.startsWith("HTTP/1.1 200")) throw new Error(`The stream was answered: ${carry.slice(0, 200)}`);
      headSeen = true;
      carry = carry.slice(end);
      onOpen();
    }
    let from = 0;
    for (;;) {
      const data = carry.indexOf("data: ", from);
      const end = data < 0 ? -1 : carry.indexOf("\n", data);
      if (end < 0) break;
      const timestamp = /"timestamp":(\d+)/.exec(carry.slice(data, end))?.[1];
      period.events++;
      if (timestamp) period.agesMs.push(Date.now() - Number(timestamp));
      from = end;
    }
    carry = carry.slice(from).slice(-longestEvent);
  });
  socket.on("close", () => open--);
  socket.on("error", () => socket.destroy());
}

async function connectOne(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
    socket.once("error", reject);
    follow(socket, () => {
      open++;
      resolve();
    });
  });
}

let begun = 0;
await Promise.all(
  Array.from({ length: connectingAtOnce }, async () => {
    while (begun < clients) {
      begun++;
      await connectOne();
    }
  }),
);
process.stdout.write("open\n");

createInterface({ input: process.stdin }).on("line", () => {
  const { begunAt, events, agesMs } = period;
  period = newPeriod();
  agesMs.sort((one, other) => one - other);
  const at = (share: number) => agesMs[Math.floor(agesMs.length * share)] ?? Number.NaN;
  const figures: SsePeriod = { open, events, seconds: (performance.now() - begunAt) / 1_000, p50AgeMs: at(0.5), p99AgeMs: at(0.99) };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
});
