/**
 * A steady mix of calls to three services: `node mixed-calls.ts HTTP_URL ACCOUNT_URL EVENTS_URL RATE SECONDS`. RATE is calls a second in all,
 * a third to each service. Ends by printing its figures as JSON.
 */
import { Agent, request } from "node:http";
import { exampleEvent } from "../../contract/services/example-event.ts";

export interface MixedFigures {
  readonly sent: number;
  readonly answered: number;
  /** Answers of 400 and above, and calls without an answer. */
  readonly failed: number;
}

interface Call {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const [http = "", account = "", events = "", rateText, secondsText] = process.argv.slice(2);
const rate = Number(rateText);
const seconds = Number(secondsText);
const tickMs = 10;
const devices = 2_000;
const json = { "Content-Type": "application/json" };

const login = await fetch(`${account}/login`, {
  method: "POST",
  body: new URLSearchParams({ username: "api@example.com", password: "backlot-demo" }),
});
const { token } = (await login.json()) as { token: string };

const echoed = JSON.stringify({
  order: 48_213,
  lines: Array.from({ length: 12 }, (_, index) => ({ sku: `KB-${index}`, qty: index, price: 39.9 })),
});
const ofHttp: readonly Call[] = [
  { url: `${http}/api/data?page=1` },
  { url: `${http}/api/echo`, method: "POST", headers: json, body: echoed },
  { url: `${http}/api/status/404` },
  { url: `${http}/` },
];
const toAccount: Call = { url: `${account}/details`, headers: { Authorization: `Bearer ${token}` } };
const toEvents = (index: number): Call => ({
  url: `${events}/events`,
  method: "POST",
  headers: { ...json, "X-Plugin-Version": "0.5.0" },
  body: JSON.stringify({ ...exampleEvent, device_id: `0b6f3c1e-5d0a-4a53-9a0e-${String(index % devices).padStart(12, "0")}` }),
});
const callOf = (index: number): Call => {
  if (index % 3 === 0) return ofHttp[(index / 3) % ofHttp.length]!;
  return index % 3 === 1 ? toAccount : toEvents(index);
};

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let [sent, answered, failed] = [0, 0, 0];

function send({ url, method = "GET", headers, body }: Call): void {
  const call = request(url, {
    method,
    agent,
    headers: { ...headers, ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }) },
  });
  call.on("response", (response) => {
    // 404 is what /api/status/404 is asked for.
    if ((response.statusCode ?? 0) >= 400 && response.statusCode !== 404) failed++;
    response.on("end", () => void answered++).resume();
  });
  call.on("error", () => void failed++);
  call.end(body);
}

const begunAt = performance.now();
const ticker = setInterval(() => {
  const due = Math.min(rate * seconds, Math.floor(((performance.now() - begunAt) / 1_000) * rate));
  for (; sent < due; sent++) send(callOf(sent));
  if (sent < rate * seconds) return;
  clearInterval(ticker);
  setTimeout(() => {
    const figures: MixedFigures = { sent, answered, failed };
    process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
  }, 2_000);
}, tickMs);
