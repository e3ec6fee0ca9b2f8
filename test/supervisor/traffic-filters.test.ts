import { expect, it } from "vitest";
import { noFilter, trafficMatcher } from "../../renderer/src/list/filter/traffic-filter.ts";
import type { Row } from "../support/records.ts";
import { batch, create, createMemory, everything, row } from "./traffic-stores.ts";

/** Finds these rows in the store, and decides alike in the dashboard's lists. */
async function expectFound(store: ReturnType<typeof create>, text: string, expected: readonly number[]) {
  const page = await store.read({ ...everything, text });
  expect([text, page.rows.map(({ id }) => id)]).toEqual([text, expected]);
  const all = (await store.read(everything)).rows;
  expect([text, all.filter(trafficMatcher({ ...noFilter, text })).map(({ id }) => id)]).toEqual([text, expected]);
  return page;
}

it("[BL-541] open rows of every kind are found by the words that lists show for them; the dashboard's lists decide alike", async () => {
  const store = create();
  const open = (id: number, kind: Row["kind"], outcome = "") => row(id, "pending", { kind, outcome });
  store.add(batch([open(1, "grpc-call"), open(2, "rtsp", "playing"), open(3, "http"), open(4, "http", "200"), row(5, "ok")]));
  for (const [text, ...expected] of [
    ["open", 4, 2, 1],
    ["Pending", 3, 2, 1],
    ["playing", 2],
  ] as const)
    await expectFound(store, text, expected);
});

it("[BL-129] [WEBRTC-436] rows are filtered by state, target, outcome and kind too; the dashboard's lists decide alike", async () => {
  const store = create();
  const rows = [
    row(1, "ok", { target: "/a.B/One", outcome: "OK", client: "okhttp (sample)" }),
    row(2, "pending", { kind: "http", target: "/a.B/Two", outcome: "" }),
    row(3, "failed", { target: "/a.B/One", outcome: "INTERNAL" }),
    row(4, "ok", { target: "/a.Beta/One", outcome: "OK", preview: "INTERNAL /a.B/" }),
    row(5, "ok", { target: "/Ä/Größe", outcome: "OK" }),
    row(6, "aborted", { kind: "http", target: "/left", outcome: "client left" }),
  ];
  store.add(batch(rows));
  for (const [filter, expected] of [
    [{ target: "/a.B/" }, [3, 2, 1]],
    [{ target: "/a.B/One", withoutSample: true }, [3]],
    [{ target: "/A.B/" }, []],
    [{ target: "/Ä/" }, [5]],
    [{ outcome: "INTERNAL" }, [3]],
    [{ target: "/a.B/One", outcome: "OK" }, [1]],
    [{ tone: "open", text: "pending" }, [2]],
    [{ text: "aborted" }, [6]],
    [{ tone: "open", target: "/a.Beta/" }, []],
    [{ text: "one", outcome: "OK" }, [4, 1]],
    [{ ofKind: "mqtt-event", outcome: "OK" }, [5, 4, 1]],
    [{ ofKind: "webrtc-peer" }, []],
  ] as const) {
    const page = await store.read({ ...everything, ...filter });
    expect(page.rows.map(({ id }) => id)).toEqual(expected);
    expect(page.matching).toBe(expected.length);
    const matches = trafficMatcher({ ...noFilter, ...filter });
    const all = (await store.read(everything)).rows;
    expect(all.filter(matches).map(({ id }) => id)).toEqual(expected);
  }
});

it("[BL-432] terms of the text are about single fields or leave rows out; the dashboard's lists decide alike", async () => {
  const store = create();
  const http = { kind: "http" } as const;
  store.add(
    batch([
      row(1, "ok", { ...http, verb: "GET", target: "/health", outcome: "200", client: "okhttp" }),
      row(2, "refused", { ...http, verb: "POST", target: "/login", outcome: "401", user: "anna@a.b", reason: "wronglogin" }),
      row(3, "refused", { ...http, verb: "GET", target: "/post/400", outcome: "404, client left" }),
      row(4, "aborted", { ...http, verb: "POST", target: "/Upload", outcome: "client left" }),
      row(5, "failed", { kind: "grpc-call", verb: "unary", target: "/shop.Orders/Get", outcome: "NOT_FOUND" }),
    ]),
  );
  for (const [text, expected] of [
    ["status:4xx", [3, 2]],
    ["status:404", [3]],
    ["status:40", [3, 2]],
    ["status:not_found", [5]],
    ['status:"client left"', [4, 3]],
    ["method:post", [4, 2]],
    ["METHOD:get", [5, 3, 1]],
    ["path:/upload method:POST", [4]],
    ["-method:get", [4, 2]],
    ["-health -upload", [5, 3, 2]],
    ["client:okhttp", [1]],
    ["user:anna reason:wrong", [2]],
    ["post -status:aborted", [3, 2]],
    ["get status:404 /post", [3]],
    ["status:", [5, 4, 3, 2, 1]],
    ["-", []],
    ["-1", []],
  ] as const) {
    await expectFound(store, text, expected);
    expect((await store.read({ ...everything, text, inDetails: true })).rows.map(({ id }) => id)).toEqual(expected);
  }
});

it("[BL-585] a text and a path find percent-encoded targets as they were sent and as they read; the dashboard's lists decide alike", async () => {
  const store = create();
  const http = { kind: "http", verb: "GET" } as const;
  store.add(
    batch([
      row(1, "ok", { ...http, target: "/anything/k%C3%A4se?q=a%20b", outcome: "200" }),
      row(2, "ok", { ...http, target: "/käse/a b", outcome: "200" }),
      row(3, "ok", { ...http, target: "/100%/K%c3%84SE/%ff/%zz?a+b", outcome: "200" }),
      row(4, "ok", { ...http, target: "/else", outcome: "200", preview: "a%20b k%C3%A4se" }),
    ]),
  );
  for (const [text, expected] of [
    ["käse", [3, 2, 1]],
    ["path:käse", [3, 2, 1]],
    ["-KÄSE", [4]],
    ["a b", [2, 1]],
    ['path:"a b"', [2, 1]],
    ["get /anything/kä", [1]],
    ["k%c3%a4se", [4, 1]],
    ["path:k%C3%A4se", [1]],
    ["100%", [3]],
    ["/%ff/%ZZ", [3]],
    ["anything -path:käse", []],
  ] as const)
    await expectFound(store, text, expected);
  const topics = create(10, createMemory(), "mqtt");
  topics.add(batch([row(1, "ok", { target: "a%20b" })]));
  await expectFound(topics, "a b", []);
  await expectFound(topics, "a%20b", [1]);
});

it("[BL-543] terms compare the status, the time and the size of rows; the dashboard's lists decide alike", async () => {
  const store = create();
  const http = { kind: "http" } as const;
  store.add(
    batch([
      row(1, "ok", { ...http, outcome: "200", tookMs: 0.4, bytesIn: 50_000, bytesOut: 999 }),
      row(2, "refused", { ...http, outcome: "404", tookMs: 100, bytesOut: 1_000 }),
      row(3, "failed", { ...http, outcome: "503", tookMs: 1_500, bytesOut: 1_001 }),
      row(4, "pending", { ...http, outcome: "200", at: Date.now() + 3_600_000, bytesOut: 2_000_000 }),
      row(5, "refused", { kind: "rtsp", outcome: "454 Session Not Found", tookMs: 90_000, bytesIn: 600, bytesOut: 600 }),
      row(6, "refused", { kind: "grpc-call", outcome: "HTTP 415", tookMs: 3 }),
      row(7, "ok", { kind: "websocket", outcome: "closed 1000", tookMs: 3_600_000 }),
    ]),
  );
  for (const [text, expected] of [
    ["took:>100ms", [7, 5, 3]],
    ["took:>=100", [7, 5, 3, 2]],
    ["took:<1ms", [4, 1]],
    ["took:>1s took:<2m", [5, 3]],
    ['took:">=1.50 s" took:<1h', [5, 3]],
    ["-took:>100ms", [6, 4, 2, 1]],
    ["size:>1k", [5, 4, 3]],
    ["size:>=1kB size:<1KiB", [3, 2]],
    ["size:>1.5MB", [4]],
    ["size:<1000 -size:<1", [1]],
    ["status:>=400", [6, 5, 3, 2]],
    ["status:>=400 status:<500", [6, 5, 2]],
    ["status:454", [5]],
    ["status:4xx took:>1s", [5]],
    ["took:>", [7, 6, 5, 4, 3, 2, 1]],
    ["took:100", []],
    ["-took:100", [7, 6, 5, 4, 3, 2, 1]],
    ["status:9x", []],
  ] as const)
    await expectFound(store, text, expected);
});

it("[BL-562] the time of an open row is how long it is open; the dashboard's lists decide alike", async () => {
  const store = create();
  const at = Date.now();
  store.add(
    batch([
      row(1, "pending", { kind: "http", outcome: "", at: at - 90_000 }),
      row(2, "pending", { kind: "grpc-call", outcome: "", at: at - 3_700_000 }),
      row(3, "pending", { kind: "http", outcome: "200", at: at + 1_000 }),
      row(4, "ok", { at: at - 90_000, tookMs: 2 }),
      row(5, "ok", { at: at - 90_000 }),
    ]),
  );
  for (const [text, expected] of [
    ["took:>1m", [2, 1]],
    ["took:>1m pending", [2, 1]],
    ["took:>1h", [2]],
    ["took:<1s", [4, 3]],
    ["-took:>1m", [5, 4, 3]],
  ] as const) {
    const page = await expectFound(store, text, expected);
    expect(page.matching).toBe(expected.length);
    expect(await store.match([1, 2, 3, 4, 5], { ...everything, text })).toEqual(expected.toReversed());
  }
  const sort = { by: "tookMs", direction: "descending", asOf: at } as const;
  expect((await store.read({ ...everything, sort })).rows.map(({ id }) => id)).toEqual([2, 1, 4, 3, 5]);
});

it.each([
  ["no credentials", [1]],
  ['reason:"no credentials"', [1]],
  ["reason:credentials", [1]],
  ["loginrequired", [1]],
  ["reason:login", [1]],
  ["field not valid: country", [2]],
  ["valid: country", [2]],
  ["-credentials", [3, 2]],
  ["reason:busy", [3]],
])("[BL-506] %s is found by the words of a refusal, and by how it is recorded", async (text, expected) => {
  const store = create(100, createMemory(), "account");
  const refused = { verb: "GET", target: "/details", outcome: "401", client: "curl", peer: "127.0.0.1:1", preview: "" } as const;
  const reasons = ["loginrequired", "invalidfield: country", "busy, brandnew"];
  store.add(batch(reasons.map((reason, at) => row(at + 1, "refused", { ...refused, reason }))));
  await expectFound(store, text, expected);
});

it.each(["http", "events", "mqtt"] as const)(
  "[BL-506] a reason of %s, whose list shows it as it is, has no words of Account",
  async (service) => {
    const store = create(100, createMemory(), service);
    store.add(
      batch([row(1, "refused", { reason: "busy" }), row(2, "refused", { reason: "storage" }), row(3, "refused", { reason: "badrequest" })]),
    );
    for (const [text, expected] of [
      ["storage failed", []],
      ["reason:failed", []],
      ["-failed", [3, 2, 1]],
      ["reason:storage", [2]],
      ["not HTTP", []],
    ] as const)
      await expectFound(store, text, expected);
    const sort = { by: "reason", direction: "ascending", asOf: 0 } as const;
    expect((await store.read({ ...everything, sort })).rows.map(({ id }) => id)).toEqual([3, 1, 2]);
  },
);

it("[WEBRTC-572] rows of WebRTC are found by all words that their list shows; the dashboard's lists decide alike", async () => {
  const store = create(100, createMemory(), "webrtc");
  const rows = [
    row(1, "pending", { kind: "webrtc-peer", verb: "socketio", target: "p1", user: "Ann", preview: "demo", outcome: "connected" }),
    row(2, "ok", { kind: "webrtc-peer", verb: "ywebrtc", target: "p2", preview: "", outcome: "client left" }),
    row(3, "ok", { kind: "webrtc-signal", verb: "offer", target: "p2", user: "Ann", peerName: "Bob", outcome: "delivered" }),
    row(4, "refused", { kind: "webrtc-signal", verb: "bad", target: "", user: "p2", outcome: "invalid" }),
    row(5, "ok", { kind: "webrtc-signal", verb: "chat", target: "#demo", peer: "", client: "", outcome: "delivered" }),
    row(6, "refused", {
      kind: "turn-request",
      verb: "refresh",
      target: "UDP",
      user: "1790000000:p2",
      peerName: "Bob",
      reason: "the nonce is stale",
      outcome: "438",
    }),
    row(7, "pending", { kind: "turn-allocation", verb: "relay", target: "127.0.0.1:49160", preview: "over TLS", user: "u1", outcome: "" }),
    row(8, "ok", { kind: "webrtc-media", verb: "play", target: "/test", preview: "WHEP, VP8" }),
    row(9, "ok", { kind: "http", verb: "GET", target: "/ws-info" }),
    row(10, "pending", { kind: "websocket", verb: "GET", target: "/ws" }),
  ];
  store.add(batch(rows));
  for (const [text, expected] of [
    ["socket.io", [1]],
    ["peer socket.io ann p1 in demo", [1]],
    ["y-webrtc", [2]],
    ["-y-webrtc -peer", [10, 9, 8, 7, 6, 5, 4, 3]],
    ["signal offer ann bob p2", [3]],
    ["bad message", [4]],
    ["signal chat backlot #demo", [5]],
    ["stun, turn refresh bob over udp: the nonce", [6]],
    ["user:bob", [6]],
    ["relay over tls u1", [7]],
    ["open", [10, 7, 1]],
    ["media play", [8]],
    ["http", [9]],
    ["WebSocket", [10]],
  ] as const)
    await expectFound(store, text, expected);
});
