/**
 * Clients of signalling on plain WebSockets, all in one process: `node signalling-clients.ts PORT DIALECT CLIENTS`. Prints "open" once all are
 * connected. A line on stdin is a task, which ends with a line of JSON:
 *   relay MESSAGES         every two clients send one another a candidate, the next one when the last has come, until there were so many
 *   chat RATE SECONDS      all are in a room, and so many messages a second are sent there
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { SignallingDialect } from "../peers/signalling-servers.ts";

const port = Number(process.argv[2]);
const dialect = process.argv[3] as SignallingDialect;
const clientCount = Number(process.argv[4]);
/** Connecting all at once would measure the backlog of the listener. */
const connectingAtOnce = 50;
const room = "bench";
const candidate = {
  candidate:
    "candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 10.0.0.17 rport 46154 generation 0 ufrag EEtu network-cost 999",
  sdpMid: "0",
  sdpMLineIndex: 0,
  usernameFragment: "EEtu",
};

interface Client {
  readonly socket: WebSocket;
  id: string;
  onText: (text: string) => void;
}

const targets: Readonly<Record<SignallingDialect, (number: number) => string>> = {
  json: () => "/ws",
  peerjs: (number) => `/peerjs?key=peerjs&id=client-${number}&token=token-${number}&version=1.5.5`,
  // Two in a room: in one room each of them is told of all others.
  socketio: (number) => `/socket.io/?EIO=4&transport=websocket&room=pair-${number >> 1}`,
};

/** A client that is not let in would count as an idle one. */
const refusal = /^(?:42\["error"|\{"type":"(?:ERROR|ID-TAKEN|INVALID-KEY|error)")/;

/** What the client is called, once a text says that it is connected. */
function idWhenOpen(text: string, number: number, socket: WebSocket): string | undefined {
  switch (dialect) {
    case "json":
      return text.includes('"welcome"') ? (JSON.parse(text) as { id: string }).id : undefined;
    case "peerjs":
      return text.includes('"OPEN"') ? `client-${number}` : undefined;
    case "socketio":
      if (text.startsWith("0")) socket.send("40");
      return text.startsWith("40{") ? (JSON.parse(text.slice(2)) as { sid: string }).sid : undefined;
    default:
      return dialect satisfies never;
  }
}

function candidateTo(id: string): string {
  switch (dialect) {
    case "json":
      return JSON.stringify({ type: "candidate", to: id, candidate });
    case "peerjs":
      return JSON.stringify({ type: "CANDIDATE", payload: { candidate, type: "data", connectionId: "dc_kx1rq5pa2sh" }, dst: id });
    case "socketio":
      return `42${JSON.stringify(["signal", { candidate, to: id }])}`;
    default:
      return dialect satisfies never;
  }
}

async function connect(number: number): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${targets[dialect](number)}`, { perMessageDeflate: false });
  const client: Client = { socket, id: "", onText: () => {} };
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`Client ${number} was disconnected before it was open`)));
    socket.on("message", (data) => {
      const text = String(data);
      if (refusal.test(text)) throw new Error(`Client ${number} was refused: ${text}`);
      // Engine.IO's ping.
      if (text === "2" && dialect === "socketio") return socket.send("3");
      if (client.id !== "") return client.onText(text);
      const id = idWhenOpen(text, number, socket);
      if (id === undefined) return;
      client.id = id;
      resolve();
    });
  });
  return client;
}

const clients: Client[] = [];
let begun = 0;
await Promise.all(
  Array.from({ length: connectingAtOnce }, async () => {
    while (begun < clientCount) clients.push(await connect(begun++));
  }),
);
process.stdout.write("open\n");

async function relay(messages: number): Promise<object> {
  let sent = 0;
  let received = 0;
  await new Promise<void>((resolve) => {
    for (let index = 0; index + 1 < clients.length; index += 2) {
      const pair = [clients[index], clients[index + 1]] as readonly Client[];
      for (const [own, client] of pair.entries()) {
        const text = candidateTo(pair[1 - own]?.id ?? "");
        client.onText = (answer) => {
          if (!answer.includes("candidate:842163049")) return;
          received++;
          if (sent < messages) {
            sent++;
            client.socket.send(text);
          } else if (received === sent) resolve();
        };
        if (own === 0) {
          sent++;
          client.socket.send(text);
        }
      }
    }
  });
  return { messages: received };
}

async function chat(rate: number, seconds: number): Promise<object> {
  const delays: number[] = [];
  const joined = clients.map(
    (client) =>
      new Promise<void>((resolve) => {
        client.onText = (text) => {
          if (text.includes('"joined"')) resolve();
          const sentAt = /"text":"at (\d+\.?\d*) /.exec(text)?.[1];
          if (sentAt !== undefined && !text.includes('"history"')) delays.push(performance.now() - Number(sentAt));
        };
        client.socket.send(JSON.stringify({ type: "join", room }));
      }),
  );
  await Promise.all(joined);
  const total = rate * seconds;
  const begin = performance.now();
  for (let number = 0; number < total; number++) {
    const waitMs = begin + (number * 1_000) / rate - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const text = `at ${performance.now()} and as long as people write in a chat`;
    clients[number % clients.length]?.socket.send(JSON.stringify({ type: "chat", room, text }));
  }
  const expected = total * (clients.length - 1);
  for (let waited = 0; delays.length < expected && waited < 50; waited++) await sleep(100);
  delays.sort((one, other) => one - other);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN;
  return { deliveries: delays.length, expected, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [task, first = 0, second = 0] = line.split(" ").map((word, index) => (index === 0 ? word : Number(word))) as [
    string,
    number?,
    number?,
  ];
  const figures = task === "relay" ? await relay(first) : await chat(first, second);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
process.exit(0);
