import type { HttpSample, SendSample } from "../core/http/http-sample-traffic.ts";
import { seededRandom } from "../core/traffic/seeded-random.ts";

interface SampleRequest {
  readonly weight: number;
  readonly method: string;
  readonly path: string;
  readonly client: string;
  readonly body?: unknown;
}

const clients = {
  phone: "okhttp/4.12.0",
  script: "python-requests/2.32.3",
  terminal: "curl/8.9.1",
  page: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
} as const;

const mix: readonly SampleRequest[] = [
  { weight: 6, method: "GET", path: "/api/data", client: clients.phone },
  { weight: 3, method: "GET", path: "/health", client: clients.terminal },
  {
    weight: 3,
    method: "POST",
    path: "/api/echo",
    client: clients.phone,
    body: { order: 48_213, currency: "EUR", lines: [{ sku: "KB-101", qty: 2, price: 39.9 }] },
  },
  { weight: 2, method: "GET", path: "/", client: clients.page },
  { weight: 2, method: "GET", path: "/anything/orders?limit=50&page=2", client: clients.script },
  { weight: 1, method: "GET", path: "/image/png", client: clients.page },
  { weight: 1, method: "GET", path: "/etag/v7", client: clients.script },
  { weight: 1, method: "GET", path: "/redirect-to?url=/get", client: clients.page },
  { weight: 1, method: "GET", path: "/api/status/404", client: clients.script },
  { weight: 1, method: "DELETE", path: "/api/data", client: clients.phone },
  { weight: 1, method: "GET", path: "/api/status/503", client: clients.phone },
  { weight: 1, method: "GET", path: "/api/delay/0.3", client: clients.terminal },
];

const total = mix.reduce((sum, { weight }) => sum + weight, 0);

function pick(random: number): SampleRequest {
  let left = random * total;
  for (const candidate of mix) {
    left -= candidate.weight;
    if (left < 0) return candidate;
  }
  return mix[0] as SampleRequest;
}

/** A plausible mix, and one subscriber of the event stream. */
function begin(send: SendSample): () => void {
  const random = seededRandom("sample");
  void send({
    method: "GET",
    path: "/api/stream?count=0&duration=1s",
    agent: false,
    software: clients.page,
    headers: { Accept: "text/event-stream" },
  });
  return () => {
    const { method, path, client, body } = pick(random());
    void send({ method, path, software: client, headers: { Accept: "*/*" } }, body);
  };
}

export const httpSample: HttpSample = { intervalMs: 350, maxSockets: 4, begin };
