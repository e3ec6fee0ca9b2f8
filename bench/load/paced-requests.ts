/**
 * A steady flow of mixed requests on kept-alive connections, which wrk cannot do:
 * `node paced-requests.ts PORT RATE CONNECTIONS SECONDS`; 0 seconds is until SIGTERM. Ends by printing its figures as JSON.
 */
import { connect, type Socket } from "node:net";
import type { LoadFigures } from "../dashboard-bench.ts";
import { createAnswerCounter } from "./answer-counter.ts";

const [port = 0, rate = 0, connections = 0, seconds = 0] = process.argv.slice(2).map(Number);
const tickMs = 5;
/** A load that the server cannot take ends this much after its time. */
const lastTickMs = 200;
const reconnectMs = 50;
/** Requests on one connection that have no answer: a client that sends any number of them keeps the server in one read of its connection. */
const mostWaiting = 16;
const lastAnswersMs = 5_000;

const host = `Host: 127.0.0.1:${port}\r\nUser-Agent: paced-requests/1.0\r\nAccept: */*\r\n`;
const body = JSON.stringify({ device: "sensor-17", reading: 21.5, unit: "C", tags: ["bench", "flood"] });
const mix = [
  `GET /api/data?page=1 HTTP/1.1\r\n${host}\r\n`,
  `POST /api/echo HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  `GET /api/status/404 HTTP/1.1\r\n${host}\r\n`,
  `GET / HTTP/1.1\r\n${host}\r\n`,
];

interface Lane {
  readonly socket: Socket;
  readonly writable: boolean;
  /** Requests without an answer so far. */
  waiting: number;
  pending: string;
}

const lanes: Lane[] = [];
let sent = 0;
let answered = 0;
let lost = 0;
let next = 0;
let ending = false;

function openLane(index: number): void {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  const lane: Lane = {
    socket,
    get writable() {
      return socket.readyState === "open";
    },
    waiting: 0,
    pending: "",
  };
  const countAnswers = createAnswerCounter();
  socket.on("data", (chunk: Buffer) => {
    const answers = countAnswers(chunk);
    answered += answers;
    lane.waiting -= answers;
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    lost += lane.waiting;
    if (!ending) setTimeout(openLane, reconnectMs, index);
  });
  lanes[index] = lane;
}

for (let index = 0; index < connections; index++) openLane(index);
const begunAt = performance.now();
let lastTickAt = begunAt;
let latestTickMs = 0;
/** Requests that are due but not sent. Time in which nothing can be sent is not made up for. */
let due = 0;

const ticker = setInterval(() => {
  const now = performance.now();
  latestTickMs = Math.max(latestTickMs, now - lastTickAt);
  due = Math.min(due + ((now - lastTickAt) / 1_000) * rate, rate);
  lastTickAt = now;
  let open = lanes.filter((lane) => lane.writable && lane.waiting < mostWaiting);
  const total = seconds > 0 ? rate * seconds - sent : Number.POSITIVE_INFINITY;
  for (let count = Math.min(Math.floor(due), total); count > 0 && open.length > 0; count--) {
    const lane = open[next % open.length]!;
    if (lane.waiting >= mostWaiting) {
      open = open.filter(({ waiting }) => waiting < mostWaiting);
      count++;
      continue;
    }
    lane.pending += mix[next % mix.length];
    lane.waiting++;
    next++;
    sent++;
    due--;
  }
  for (const lane of lanes) {
    if (lane.pending !== "") lane.socket.write(lane.pending, "latin1");
    lane.pending = "";
  }
  if (seconds > 0 && (sent >= rate * seconds || now - begunAt >= seconds * 1_000 + lastTickMs)) finish();
}, tickMs);

function finish(): void {
  if (ending) return;
  ending = true;
  clearInterval(ticker);
  const endedAt = performance.now();
  const report = () => {
    for (const { socket } of lanes) socket.destroy();
    const figures: LoadFigures = { sent, answered, lost, seconds: (endedAt - begunAt) / 1_000, latestTickMs };
    process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
  };
  const timer = setInterval(() => {
    if (answered + lost < sent && performance.now() - endedAt < lastAnswersMs) return;
    clearInterval(timer);
    report();
  }, 10);
}
process.once("SIGTERM", finish);
