/**
 * A steady flow of readings over many topics: `node paced-publishes.ts PORT RATE CONNECTIONS TOPICS SECONDS`. Half of the topics stand
 * on one level, half in a plant's tree. Each topic once, then any of them. Ends by printing its figures as JSON.
 */
import { connect, type Socket } from "node:net";

export interface PublishFigures {
  readonly sent: number;
  readonly seconds: number;
  /** Longest time between two ticks of its clock: whether the generator itself kept pace. */
  readonly latestTickMs: number;
}

const [port = 0, rate = 0, connections = 0, topics = 0, seconds = 0] = process.argv.slice(2).map(Number);
const tickMs = 5;

const field = (text: string) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
};
const packet = (firstByte: number, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([
    Buffer.from(body.length < 128 ? [firstByte, body.length] : [firstByte, (body.length & 127) | 128, body.length >> 7]),
    body,
  ]);
};
const topicOf = (index: number) =>
  index % 2 === 0 ? `devices/${index >> 1}` : `plant/${(index >> 1) % 10}/line/${Math.floor((index >> 1) / 10) % 50}/sensor/${index >> 1}`;

const sockets: Socket[] = [];
for (let index = 0; index < connections; index++) {
  const socket = connect(port, "127.0.0.1");
  socket.write(packet(0x10, field("MQTT"), Buffer.from([4, 2, 0, 0]), field(`paced-${index}`)));
  socket.resume();
  sockets.push(socket);
}

const begunAt = performance.now();
let lastTickAt = begunAt;
let [latestTickMs, due, sent] = [0, 0, 0];
const ticker = setInterval(() => {
  const now = performance.now();
  latestTickMs = Math.max(latestTickMs, now - lastTickAt);
  due += ((now - lastTickAt) / 1_000) * rate;
  lastTickAt = now;
  const chunks: Buffer[][] = sockets.map(() => []);
  for (; due >= 1 && sent < rate * seconds; due--, sent++) {
    const index = sent < topics ? sent : Math.floor(Math.random() * topics);
    const reading = { device: `sensor-${index}`, reading: (index % 400) / 10, unit: "C", seq: sent, at: Date.now() };
    chunks[sent % connections]!.push(packet(0x30, field(topicOf(index)), Buffer.from(JSON.stringify(reading))));
  }
  for (const [index, socket] of sockets.entries()) if (chunks[index]!.length > 0) socket.write(Buffer.concat(chunks[index]!));
  if (sent < rate * seconds) return;
  clearInterval(ticker);
  const figures: PublishFigures = { sent, seconds: (performance.now() - begunAt) / 1_000, latestTickMs };
  for (const socket of sockets) socket.end();
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}, tickMs);
