import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { ServiceId } from "../../contract/service.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/** What clients do to one service, and a client beside them that behaves. */
export interface HostileService {
  /** Options of the command line beside its port. */
  readonly flags: readonly string[];
  /** The same as a configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Services that run with it, because it hands on what they have. */
  readonly beside?: readonly ServiceId[];
  openBystander(addresses: Addresses): Promise<Bystander>;
  /** Names are those of the table. */
  readonly attacks: Readonly<Record<string, Attack>>;
}

export interface Addresses {
  /** Of the first endpoint. */
  readonly port: number;
  /** Of the first endpoint with this label. */
  urlOf(label: string): string;
}

export interface Bystander {
  /** Asks once, also while earlier questions have no answer; rejects for a wrong answer. */
  ask(): Promise<void>;
  close(): Promise<void>;
}

export interface Target extends Addresses {
  readonly random: SeededRandom;
  /** How long unread answers stay unread, and half requests half. */
  readonly holdMs: number;
}

/** Once; it is repeated until the time is over. Resolves when its connections are closed. */
export type Attack = (target: Target) => Promise<void>;

/** The same target at another of its ports. */
export const atEndpoint = (target: Target, label: string): Target => ({ ...target, port: Number(new URL(target.urlOf(label)).port) });

/** Writes bytes to several connections, reads nothing or drops what is read, and closes them after `holdMs`, unless the service did. */
export async function throwAt(
  { port, holdMs }: Target,
  connections: number,
  bytes: Buffer | (() => Buffer),
  reads: "nothing" | "all",
): Promise<void> {
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  const closed = Promise.all(sockets.map((socket) => closeOf(socket)));
  for (const socket of sockets) {
    if (reads === "all") socket.resume();
    socket.write(typeof bytes === "function" ? bytes() : bytes);
  }
  await Promise.race([closed, delay(holdMs)]);
  for (const socket of sockets) socket.destroy();
  await closed;
}

export function closeOf(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

interface RequestParts {
  /** Complete lines. */
  readonly headers?: string;
  readonly body?: Buffer;
}

export const httpRequest = (method: string, target: string, { headers = "", body = Buffer.alloc(0) }: RequestParts = {}): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${body.length > 0 ? `Content-Length: ${body.length}\r\n` : ""}\r\n`,
    ),
    body,
  ]);

/** The same attacks at another endpoint. */
export const overEndpoint = (label: string, attacks: Readonly<Record<string, Attack>>): Readonly<Record<string, Attack>> =>
  Object.fromEntries(
    Object.entries(attacks).map(([name, attack]): [string, Attack] => [`${label}: ${name}`, (target) => attack(atEndpoint(target, label))]),
  );

export const repeated = (bytes: Buffer, times: number): Buffer => Buffer.concat(Array.from({ length: times }, () => bytes));

export const randomBytes = ({ random }: Target, length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));

/** Longer than any service needs, and short enough for a head of 16 KiB: a pattern that is tried at each of n places takes n² steps. */
const rowLength = 15_000;
const rowsOf = (...units: readonly string[]): string[] => units.map((unit) => unit.repeat(rowLength / unit.length));
export const slowValues: readonly string[] = [
  ...rowsOf(
    " ",
    "\t",
    ",",
    ", ",
    ";",
    "; ",
    "=",
    '"',
    "\\",
    '\\"',
    ".",
    "-",
    ":",
    "/",
    "a",
    "0",
    "a,",
    "a ",
    "a=",
    'a="',
    "a;q=0",
    "Version/",
  ),
  ...rowsOf("/*", "[", "%", "@."),
];
/** Each with what a pattern may ask for before it. */
const fieldsForPatterns: readonly (readonly [name: string, before: string])[] = [
  ["Accept", "text/html"],
  ["Accept-Encoding", "gzip"],
  ["Accept-Language", "de"],
  ["Authorization", "Basic "],
  ["Authorization", "Bearer a"],
  ["Authorization", 'Digest username="a", '],
  ["Content-Type", "application/json"],
  ["Content-Type", "multipart/form-data; boundary=a"],
  ["Content-Disposition", 'form-data; name="a"'],
  ["Cookie", "a=b"],
  ["If-None-Match", "W/"],
  ["Range", "bytes=0-1"],
  ["Origin", "http://a"],
  ["Access-Control-Request-Headers", "a"],
  ["Forwarded", "for=a"],
  ["X-Forwarded-For", "127.0.0.1"],
  ["User-Agent", "Mozilla/"],
  ["Sec-WebSocket-Protocol", "mqtt"],
  ["Last-Event-ID", "1"],
  ["Traceparent", "00-"],
];

/** Requests for the path whose field is a row of one character or word each, behind what may be right. */
export async function sendRows(target: Target, path: string, field: readonly [name: string, before: string]): Promise<void> {
  const requests = slowValues.map((value) => requestWith(path, field, value));
  await throwAt({ ...target, holdMs: target.holdMs / 10 }, 4, Buffer.concat(requests), "all");
}

function requestWith(path: string, [name, before]: readonly [string, string], value: string): Buffer {
  const isPreflight = name === "Access-Control-Request-Headers";
  const more = isPreflight ? "Origin: http://127.0.0.1\r\nAccess-Control-Request-Method: PUT\r\n" : "";
  const method = isPreflight ? "OPTIONS" : name.startsWith("Content") ? "POST" : "GET";
  return httpRequest(method, path, {
    headers: `${more}${name}: ${before}${value}x\r\n`,
    ...(method === "POST" && { body: Buffer.from("{}") }),
  });
}

/** Attacks that every service over HTTP has in common, with the path of a resource that anybody may read, and of a WebSocket. */
export const httpAttacks = (path: string, webSocketPath = path): Readonly<Record<string, Attack>> => ({
  "pipelined requests, answers unread": (target) => throwAt(target, 8, repeated(httpRequest("GET", path), 1_000), "nothing"),
  "200 heads that never end": (target) => throwAt(target, 200, Buffer.from("GET / HTTP/1.1\r\nHost: a\r\nX: "), "all"),
  "bodies that never end": (target) => throwAt(target, 100, httpRequest("POST", path, { headers: "Content-Length: 100000\r\n" }), "all"),
  "bodies in chunks of one byte": (target) =>
    throwAt(
      target,
      200,
      Buffer.concat([
        httpRequest("POST", path, { headers: "Transfer-Encoding: chunked\r\n" }),
        repeated(Buffer.from("1\r\nx\r\n"), 10_000),
      ]),
      "all",
    ),
  "random bytes": (target) => throwAt(target, 20, randomBytes(target, 2_000), "all"),
  "fields that slow patterns read": async (target) => {
    for (const field of fieldsForPatterns) await sendRows(target, path, field);
  },
  "requests of every kind in one piece": async (target) => {
    const piece = (reads: "nothing" | "all") =>
      throwAt({ ...target, holdMs: target.holdMs / 2 }, 15, () => anyRequests(target, path, webSocketPath), reads);
    await Promise.all([piece("all"), piece("nothing")]);
  },
});

/** Requests that end or change the protocol, before and behind others that are right. */
function anyRequests({ random }: Target, path: string, webSocketPath: string): Buffer {
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  const kinds: readonly (() => Buffer)[] = [
    () => httpRequest("GET", path),
    () => repeated(httpRequest("GET", path), random.below(40)),
    () => httpRequest("CONNECT", "example:443"),
    () => httpRequest("GET", webSocketPath, { headers: `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}` }),
    () => httpRequest("GET", path, { headers: "Connection: Upgrade\r\nUpgrade: h2c\r\n" }),
    () => httpRequest("POST", path, { headers: "Transfer-Encoding: chunked\r\n" }),
    () => Buffer.from(["3\r\nabc\r\n", "0\r\n\r\n", "zz\r\n", "0\r\nX: y\r\n\r\n"][random.below(4)] as string),
    () => httpRequest("PUT", path, { headers: "Expect: 100-continue\r\n", body: Buffer.from("{}") }),
    () => httpRequest("GET", path, { headers: "Expect: tea\r\n" }),
    () => httpRequest("GET", path, { headers: "Connection: close\r\n" }),
    () => httpRequest("HEAD", path, { body: Buffer.alloc(random.below(100_000), "x") }),
    () => httpRequest("OPTIONS", "*", { headers: "Origin: http://a.example\r\nAccess-Control-Request-Method: X\r\n" }),
    () => httpRequest("GET", `//${"%00".repeat(random.below(20))}/..;/%2e%2e/?${"a[]=%f0&".repeat(random.below(20))}#`),
    () => Buffer.from(`GET ${path} HTTP/1.0\r\n\r\n`),
    () => Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    () => Buffer.from([random.below(256), random.below(256)]),
  ];
  const bytes = Buffer.concat(Array.from({ length: 1 + random.below(12) }, () => (kinds[random.below(kinds.length)] as () => Buffer)()));
  return random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

/** Asks for `path`, with keep-alive. */
export function openHttpBystander({ port }: Addresses, path: string, headers: Readonly<Record<string, string>> = {}): Bystander {
  return {
    async ask() {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: AbortSignal.timeout(30_000) });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} was answered ${response.status}`);
    },
    close: async () => {},
  };
}
