import { expect, it } from "vitest";
import { createClientAddress, rateLimitKey } from "../../servers/core/limits/rate-limit-client.ts";
import { createMemoryRateLimiter } from "../../servers/core/limits/rate-limit-memory.ts";
import { curl } from "../http/curl.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { eventBody, getPage, post, startEvents } from "./harness.ts";

it("[EV-20] by default 200 posts in 10 s, 60 pages and 60 statistics a minute are allowed, each counted separately", async () => {
  const body = eventBody();
  const { url: byDefault } = await startEvents();
  const policyOf = async (answering: Promise<Response>) => (await answering).headers.get("ratelimit-policy");
  expect([
    await policyOf(post(byDefault, body)),
    await policyOf(fetch(`${byDefault}/events`)),
    await policyOf(fetch(`${byDefault}/stats`)),
  ]).toEqual(['"post-events";q=200;w=10', '"get-events";q=60;w=60', '"get-stats";q=60;w=60']);
  // With windows that a slow machine does not reach the end of.
  const { url } = await startEvents({ postSeconds: 3_600, readSeconds: 3_600, statsSeconds: 3_600 });
  const statuses = async (count: number, ask: () => Promise<Response>) => {
    const seen: number[] = [];
    while (seen.length < count) {
      const answer = await ask();
      await answer.arrayBuffer();
      seen.push(answer.status);
    }
    return seen;
  };
  const times = (count: number, status: number) => Array.from({ length: count }, () => status);
  expect(await statuses(202, () => post(url, body))).toEqual([...times(200, 201), 429, 429]);
  expect(await statuses(61, () => fetch(`${url}/events?limit=1`))).toEqual([...times(60, 200), 429]);
  expect(await statuses(61, () => fetch(`${url}/stats`))).toEqual([...times(60, 200), 429]);
});

it("[EV-21] a refusal is 429 with its body, Retry-After and the RateLimit fields; responses before it count down", async () => {
  const { url } = await startEvents({ statsRequests: 2, statsSeconds: 30 });
  const first = await curl(`${url}/stats`);
  expect(first.headers).toMatchObject({
    ratelimit: '"get-stats";r=1;t=30',
    "ratelimit-policy": '"get-stats";q=2;w=30',
    "ratelimit-limit": "2",
    "ratelimit-remaining": "1",
    "ratelimit-reset": "30",
  });
  expect(first.headers["retry-after"]).toBeUndefined();
  await curl(`${url}/stats`);
  const refused = await curl(`${url}/stats`);
  expect([refused.status, refused.body]).toEqual([429, '{"error":"Rate limit exceeded"}']);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(25);
  expect(refused.headers["ratelimit-remaining"]).toBe("0");
  expect(refused.headers["access-control-allow-origin"]).toBe("*");
});

it("[EV-21] a window that has just begun is not longer than its length", () => {
  let at = 0;
  const limiter = createMemoryRateLimiter({ name: "test", requests: 1, windowMs: 30_000 }, { now: () => at });
  const random = seededRandom(3);
  for (let index = 0; index < 1_000; index++) {
    at += 30_000 + random.below(1_000_000) / 999_983;
    expect(limiter.take("a").resetMs).toBe(30_000);
  }
});

it("[EV-22] the window slides: never more than the limit in any period of its length, and no request is refused unnecessarily", () => {
  let at = 0;
  const limiter = createMemoryRateLimiter({ name: "test", requests: 20, windowMs: 1_000 }, { now: () => at });
  const random = seededRandom(7);
  const allowed: number[] = [];
  for (let index = 0; index < 5_000; index++) {
    at += random.below(60);
    const within = allowed.filter((time) => time > at - 1_000).length;
    const decision = limiter.take("a");
    expect(decision.allowed).toBe(within < 20);
    if (decision.allowed) allowed.push(at);
    expect(decision.remaining).toBe(decision.allowed ? 19 - within : 0);
    expect(decision.resetMs).toBe((allowed.find((time) => time > at - 1_000) ?? at) + 1_000 - at);
  }
});

it("[EV-23] memory is bounded whatever the number of addresses; only far beyond the bound the oldest requests are dropped early", () => {
  let at = 0;
  const limiter = createMemoryRateLimiter({ name: "test", requests: 5, windowMs: 60_000 }, { now: () => at, capacity: 10_000 });
  const heldBefore = process.memoryUsage().arrayBuffers;
  const flood = (count: number) => {
    for (let index = 0; index < count; index++) {
      at += 0.01;
      limiter.take(`10.${(at >> 16) & 255}.${index >> 8}.${index & 255}`);
    }
  };
  flood(300_000);
  expect(limiter.usage().clients).toBeLessThanOrEqual(10_000);
  expect(process.memoryUsage().arrayBuffers - heldBefore).toBeLessThan(1 << 20);
  for (let index = 0; index < 5; index++) expect(limiter.take("busy").allowed).toBe(true);
  flood(9_000);
  expect(limiter.take("busy").allowed).toBe(false);
  expect(limiter.usage().busiest).toEqual({ client: "busy", used: 5, refused: 1 });
  at += 60_000;
  expect(limiter.take("busy").allowed).toBe(true);
  expect(limiter.usage().clients).toBe(1);
});

it("[EV-24] IPv6 counts by /64, an IPv4 address over IPv6 as itself, all of 127.0.0.0/8 as one client", async () => {
  const key = (address: string) => rateLimitKey(createClientAddress({ hops: 0, addresses: [] })(address, undefined));
  expect(key("::ffff:192.0.2.1")).toBe("192.0.2.1");
  for (const written of ["::ffff:101:101", "::FFFF:0101:0101", "0:0:0:0:0:ffff:1.1.1.1", "0000::ffff:101:101%lo"])
    expect(key(written)).toBe("1.1.1.1");
  for (const loopback of ["127.0.0.1", "127.0.0.2", "127.255.1.9", "::ffff:127.3.0.1", "::ffff:7f00:1"])
    expect(key(loopback)).toBe("127.0.0.1");
  expect(key("12.7.0.1")).toBe("12.7.0.1");
  expect(key("1:2:3:4:5:ffff:101:101")).toBe("1:2:3:4::/64");
  expect(key("192.0.2.1")).toBe("192.0.2.1");
  expect(key("2001:db8:1:2::1")).toBe(key("2001:DB8:0001:2:ffff:ffff:ffff:ffff"));
  expect(key("2001:db8:1:2::1")).not.toBe(key("2001:db8:1:3::1"));
  expect(key("2001:db8::5:0:0:1")).toBe(key("2001:db8:0:0:9::"));
  expect(key("fe80::1%eth0")).toBe(key("fe80::2"));
  expect(key("::1")).toBe("0:0:0:0::/64");
  // As a socket has it.
  expect(rateLimitKey("::ffff:192.0.2.1")).toBe("192.0.2.1");
  const { url } = await startEvents({ statsRequests: 1 });
  expect((await curl(`${url}/stats`)).status).toBe(200);
  expect((await curl(url.replace("127.0.0.1", "[::1]").concat("/stats"))).status).toBe(200);
  expect((await curl(`${url}/stats`)).status).toBe(429);
});

it("[EV-25] X-Forwarded-For is ignored unless proxies are trusted", async () => {
  const { url } = await startEvents({ statsRequests: 2 });
  const statuses = [];
  for (let index = 0; index < 4; index++) statuses.push((await curl("-H", `X-Forwarded-For: 10.0.0.${index}`, `${url}/stats`)).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
});

it("[EV-26] with a hop count the entry added by the outermost trusted proxy is used, with addresses the first untrusted one", async () => {
  const address = (proxies: Parameters<typeof createClientAddress>[0], field: string) => createClientAddress(proxies)("127.0.0.1", field);
  const hops = (count: number) => ({ hops: count, addresses: [] });
  expect(address(hops(1), "6.6.6.6, 203.0.113.9")).toBe("203.0.113.9");
  expect(address(hops(2), "6.6.6.6, 203.0.113.9, 10.0.0.1")).toBe("203.0.113.9");
  expect(address(hops(3), "203.0.113.9")).toBe("203.0.113.9");
  expect(address(hops(1), "6.6.6.6, nonsense")).toBe("127.0.0.1");
  expect(address(hops(1), "[2001:db8::1]:4711")).toBe("2001:db8::1");
  expect(address(hops(1), "203.0.113.9:4711")).toBe("203.0.113.9");
  const listed = { hops: 0, addresses: ["127.0.0.1", "10.0.0.0/8"] };
  expect(address(listed, "6.6.6.6, 203.0.113.9, 10.1.2.3")).toBe("203.0.113.9");
  expect(createClientAddress(listed)("192.0.2.7", "203.0.113.9")).toBe("192.0.2.7");
  // Of those behind one another the last 64 are looked at.
  const many = ["203.0.113.9", ...Array.from({ length: 4_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)].join(",");
  expect(createClientAddress({ hops: 0, addresses: ["loopback", "10.0.0.0/8"] })("127.0.0.1", many)).toBe("10.0.15.96");
  const both = { hops: 1, addresses: ["10.0.0.0/8"] };
  expect(address(both, "6.6.6.6, 203.0.113.9, 10.1.2.3")).toBe("203.0.113.9");
  expect(address(both, "6.6.6.6, 203.0.113.9")).toBe("203.0.113.9");
  expect(address(hops(1), "::ffff:101:101")).toBe("1.1.1.1");
  await expect(startEvents({ proxyAddresses: ["10.0.0.0/33"] })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  const { url } = await startEvents({ statsRequests: 1, proxyHops: 1 });
  for (const client of ["203.0.113.1", "203.0.113.2"])
    expect((await curl("-H", `X-Forwarded-For: ${client}`, `${url}/stats`)).status).toBe(200);
  await post(url, eventBody(), { "X-Forwarded-For": "203.0.113.1" });
  await post(url, eventBody());
  const [own, forwarded] = (await getPage(url)).data;
  expect(own?.ip_hash).not.toBe(forwarded?.ip_hash);
});

it("[EV-27] one switch turns off the limits and their header fields", async () => {
  const { url } = await startEvents({ rateLimits: false, statsRequests: 1 });
  for (let index = 0; index < 5; index++) {
    const answer = await curl(`${url}/stats`);
    expect(answer.status).toBe(200);
    expect(answer.headers["ratelimit-limit"]).toBeUndefined();
  }
});

it("[EV-28] the page shows each limit, its busiest client and the refusals, and can reset them", async () => {
  const events = await startEvents({ statsRequests: 2 });
  for (let index = 0; index < 5; index++) await curl(`${events.url}/stats`);
  await expect
    .poll(() => events.view("limits"))
    .toEqual({
      on: true,
      shared: false,
      gauges: [
        { name: "POST /events", requests: 200, windowSeconds: 10, clients: 0, refused: 0 },
        { name: "GET /events", requests: 60, windowSeconds: 60, clients: 0, refused: 0 },
        {
          name: "GET /stats",
          requests: 2,
          windowSeconds: 60,
          clients: 1,
          refused: 3,
          busiest: { client: "127.0.0.1", used: 2, refused: 3 },
        },
      ],
    });
  await events.act("limits.reset");
  expect((await curl(`${events.url}/stats`)).status).toBe(200);
});
