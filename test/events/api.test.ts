import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { type EventRow, eventColumns } from "../../contract/services/events.ts";
import { textPieces } from "../../servers/core/http/connections/text-pieces.ts";
import { eventsJson } from "../../servers/events/routes/events-json.ts";
import { curl } from "../http/curl.ts";
import { rawConnection } from "../http/harness.ts";
import { python } from "../http/python.ts";
import { httpRequest } from "../support/http-request.ts";
import { until } from "../support/until.ts";
import { device, eventBody, getPage, getStats, post, postAll, startEvents } from "./harness.ts";

it('[EV-1] POST /events answers 201 with exactly {"ok":true}, whatever the Content-Type says', async () => {
  const { url } = await startEvents();
  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
    const answer = await curl("-X", "POST", "-H", `Content-Type: ${type}`, "-d", JSON.stringify(eventBody()), `${url}/events`);
    expect([answer.status, answer.body]).toEqual([201, '{"ok":true}']);
  }
});

it("[EV-1] Python's urllib posts and reads", async () => {
  const { url } = await startEvents();
  const program = `
import json, urllib.request
body = json.loads(${JSON.stringify(JSON.stringify(eventBody()))})
request = urllib.request.Request("${url}/events", data=json.dumps(body).encode(), headers={"X-Plugin-Version": "0.5.1"})
with urllib.request.urlopen(request, timeout=5) as answer: print(answer.status, answer.read().decode())
with urllib.request.urlopen("${url}/events") as answer: print(json.load(answer)["data"][0]["plugin_version"])
with urllib.request.urlopen("${url}/stats") as answer: print(json.load(answer)["total_events"])`;
  expect(await python(program)).toBe('201 {"ok":true}\n0.5.1\n1\n');
});

it("[EV-2] a row has id, time, hash of the address and version, then the event; booleans are 0 and 1, recent_actions is JSON text", async () => {
  const { url } = await startEvents();
  const before = new Date().toISOString().slice(0, 19);
  await post(url, eventBody({ typing_speed: 4, relative_position: 1 }), { "X-Plugin-Version": "0.5.0" });
  const text = (await curl(`${url}/events`)).body;
  const { data } = JSON.parse(text);
  expect(data[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(data[0].created_at >= `${before}Z`).toBe(true);
  const hash = createHash("sha256").update("127.0.0.1").digest("hex");
  const row =
    `{"id":1,"created_at":"${data[0].created_at}","ip_hash":"${hash}","plugin_version":"0.5.0","device_id":"${device(1)}","outcome":"accepted",` +
    '"file_ext":".ts","language":"typescript","prefix_length":15,"trimmed_prefix_length":13,"line_count":210,"relative_position":1,"after_cursor_ws":0,' +
    '"last_char":")","last_nonws_char":"é","indentation_level":8,"completion_lines":3,"completion_additions":3,"completion_deletions":0,' +
    '"completion_source":"typing","manually_triggered":0,"provider":"remote-a","stage_index":0,"cursor_target_distance":12,"is_prefetched":1,' +
    '"display_duration_ms":1200,"time_since_last_edit_ms":800,"typing_speed":4,"recent_actions":"[\\"IC\\",\\"IC\\",\\"DC\\"]","has_diagnostics":0,' +
    '"treesitter_scope":"function","edit_count":18,"predicted_edit_ratio":0.33,"completions_since_accept":3}';
  expect(text).toBe(`{"data":[${row}],"total":1,"limit":100,"offset":0}`);
  expect(Object.keys(data[0])).toEqual([...eventColumns]);
});

it('[EV-3] without X-Plugin-Version the version is "unknown"', async () => {
  const { url } = await startEvents();
  await post(url, eventBody());
  expect((await getPage(url)).data[0]?.plugin_version).toBe("unknown");
});

it("[EV-3] the version is read as UTF-8 and cut after 100 characters", async () => {
  const { url } = await startEvents();
  const body = JSON.stringify(eventBody());
  for (const version of ["1.0-größe", `é${"😀".repeat(200)}`])
    await curl("-d", body, "-H", `X-Plugin-Version: ${version}`, `${url}/events`);
  expect((await getPage(url)).data.map(({ plugin_version }) => plugin_version)).toEqual([`é${"😀".repeat(99)}`, "1.0-größe"]);
});

it("[EV-4] unknown keys are dropped, also those of older plugins", async () => {
  const { url } = await startEvents();
  const body = eventBody({ prev_filter_shown: true, filter_score: 0.72, time_since_last_decision_ms: 4500, id: 99 });
  expect((await post(url, JSON.stringify(body).replace("{", '{"__proto__":{"outcome":"x"},'))).status).toBe(201);
  expect(Object.keys((await getPage(url)).data[0] ?? {})).toEqual([...eventColumns]);
});

const refused: readonly [part: Record<string, unknown>, path: string][] = [
  [{ device_id: "device-1" }, "device_id"],
  [{ outcome: "error" }, "outcome"],
  [{ file_ext: "x".repeat(21) }, "file_ext"],
  [{ language: "x".repeat(31) }, "language"],
  [{ provider: 1 }, "provider"],
  [{ prefix_length: -1 }, "prefix_length"],
  [{ trimmed_prefix_length: 1.5 }, "trimmed_prefix_length"],
  [{ line_count: 0 }, "line_count"],
  [{ relative_position: 1.01 }, "relative_position"],
  [{ predicted_edit_ratio: -0.1 }, "predicted_edit_ratio"],
  [{ after_cursor_ws: 0 }, "after_cursor_ws"],
  [{ manually_triggered: "true" }, "manually_triggered"],
  [{ is_prefetched: null }, "is_prefetched"],
  [{ has_diagnostics: undefined }, "has_diagnostics"],
  [{ last_char: "ab" }, "last_char"],
  [{ last_nonws_char: "xy" }, "last_nonws_char"],
  [{ indentation_level: "1" }, "indentation_level"],
  [{ completion_lines: 2 ** 53 }, "completion_lines"],
  [{ completion_source: "click" }, "completion_source"],
  [{ stage_index: -1 }, "stage_index"],
  [{ typing_speed: -0.5 }, "typing_speed"],
  [{ recent_actions: ["XX"] }, "recent_actions.0"],
  [{ recent_actions: ["IC", "IC", "IC", "IC", "IC", "IC"] }, "recent_actions"],
  [{ treesitter_scope: "module" }, "treesitter_scope"],
  [{ edit_count: true }, "edit_count"],
];
it("[EV-5] a missing or wrong field is refused with its path", async () => {
  const { url } = await startEvents();
  for (const [part, path] of refused) {
    const answer = await post(url, eventBody(part));
    const body = (await answer.json()) as { error: string; issues: { path: string; message: string }[] };
    expect([answer.status, body.error, body.issues.map((issue) => issue.path)]).toEqual([400, "Validation failed", [path]]);
    expect(Object.keys(body.issues[0] ?? {})).toEqual(["path", "message"]);
  }
  for (const column of Object.keys(eventBody())) {
    const { [column]: _left, ...rest } = eventBody();
    expect(await (await post(url, rest)).text()).toContain(`{"path":"${column}","message":"`);
  }
  expect((await getPage(url)).total).toBe(0);
});

it("[EV-5] the minimum and maximum of each field are accepted", async () => {
  const { url } = await startEvents();
  const bodies = [
    eventBody({
      file_ext: "",
      language: "",
      provider: "",
      last_char: "",
      last_nonws_char: "",
      recent_actions: [],
      relative_position: 0,
      line_count: 1,
    }),
    eventBody({
      file_ext: "x".repeat(20),
      language: "ü".repeat(30),
      last_char: "\u0080",
      last_nonws_char: "ÿ",
      relative_position: 1,
      edit_count: 2 ** 53 - 1,
    }),
    eventBody({ device_id: "11111111-1111-1111-1111-111111111111", last_char: "\ud83d" }),
  ];
  await postAll(url, bodies);
  const [third, second] = (await getPage(url)).data;
  expect([second?.last_char, second?.last_nonws_char, second?.edit_count]).toEqual(["\u0080", "ÿ", 2 ** 53 - 1]);
  expect(third?.last_char).toBe("\ufffd");
});

it("[EV-6] a body that is not an object is refused with an empty path, one that is not JSON as malformed", async () => {
  const { url } = await startEvents();
  for (const body of ["[]", "null", "1", '"x"']) {
    const answer = (await (await post(url, body)).json()) as { error: string; issues: { path: string }[] };
    expect([answer.error, answer.issues.map(({ path }) => path)]).toEqual(["Validation failed", [""]]);
  }
  for (const body of ["", "{", "{'a':1}", "undefined", "{}x", new Uint8Array([0xff, 0xfe])]) {
    const answer = await post(url, body);
    expect([answer.status, await answer.text()]).toEqual([400, '{"error":"Malformed JSON in request body"}']);
  }
});

it("[EV-204] a body with a content coding is 415, which says so", async () => {
  const { url } = await startEvents();
  for (const [coding, body] of [
    ["gzip", gzipSync(JSON.stringify(eventBody()))],
    ["gzip, br", JSON.stringify(eventBody())],
  ] as const) {
    const answer = await post(url, body, { "Content-Encoding": coding });
    expect([answer.status, answer.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect(await answer.json()).toEqual({ error: "Content-Encoding is not supported: send the JSON as it is" });
  }
  expect((await post(url, JSON.stringify(eventBody()), { "Content-Encoding": "identity" })).status).toBe(201);
});

it("[EV-7] a body of 16,384 bytes is accepted, one byte more is 413, with and without Content-Length", async () => {
  const { url } = await startEvents();
  const json = JSON.stringify(eventBody());
  const largest = json + " ".repeat(16_384 - Buffer.byteLength(json));
  expect((await post(url, largest)).status).toBe(201);
  const tooLarge = await post(url, `${largest} `);
  expect([tooLarge.status, await tooLarge.text()]).toEqual([413, '{"error":"Request body too large"}']);
  const chunked = await curl("-H", "Transfer-Encoding: chunked", "-d", `${largest} `, `${url}/events`);
  expect([chunked.status, chunked.body]).toEqual([413, '{"error":"Request body too large"}']);
  // Asked first, it refuses before the body is sent.
  const asked = await curl("-H", "Expect: 100-continue", "-d", `${largest} `, `${url}/events`);
  expect(asked.all).toMatch(/^HTTP\/1.1 413/);
  const continued = await curl("-H", "Expect: 100-continue", "-d", json, `${url}/events`);
  expect(continued.all).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201/);
});

it("[EV-8] GET /events pages from the newest, at most 1,000 rows, and total counts all rows that match the filter", async () => {
  const { url } = await startEvents({ rateLimits: false });
  await postAll(
    url,
    Array.from({ length: 12 }, (_, index) => eventBody({ device_id: device(index % 3), outcome: ["accepted", "rejected"][index % 2] })),
  );
  const ids = async (query: string) => {
    const { data, ...rest } = await getPage(url, query);
    return [data.map(({ id }) => id), rest];
  };
  expect(await ids("")).toEqual([[12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1], { total: 12, limit: 100, offset: 0 }]);
  expect(await ids("?limit=2&offset=3")).toEqual([[9, 8], { total: 12, limit: 2, offset: 3 }]);
  expect(await ids("?limit=5000&offset=11")).toEqual([[1], { total: 12, limit: 1_000, offset: 11 }]);
  expect(await ids("?limit=0")).toEqual([[], { total: 12, limit: 0, offset: 0 }]);
  expect(await ids("?offset=12")).toEqual([[], { total: 12, limit: 100, offset: 12 }]);
  expect(await ids(`?device_id=${device(0)}`)).toEqual([[10, 7, 4, 1], { total: 4, limit: 100, offset: 0 }]);
  expect(await ids(`?device_id=${device(0)}&outcome=rejected&limit=1`)).toEqual([[10], { total: 2, limit: 1, offset: 0 }]);
  expect(await ids("?outcome=accepted&limit=2&offset=4")).toEqual([[3, 1], { total: 6, limit: 2, offset: 4 }]);
  expect(await ids("?device_id=&outcome=")).toEqual(await ids(""));
});

it("[EV-8] a page of large events is made in a step for each, as JSON.stringify makes it", () => {
  const row = { id: 1, device_id: "é".repeat(14_000) } as unknown as EventRow;
  for (const count of [0, 1, 1_000]) {
    const page = { data: Array.from({ length: count }, () => row), total: count, limit: 1_000, offset: 0 };
    const making = textPieces(eventsJson(page));
    let steps = 0;
    let step = making.next();
    for (; !step.done; step = making.next()) steps++;
    expect([steps, Buffer.concat(step.value).toString() === JSON.stringify(page)]).toEqual([count + 1, true]);
  }
});

it("[EV-9] an unknown outcome or device matches nothing and is not an error", async () => {
  const { url } = await startEvents();
  await post(url, eventBody());
  const answer = await curl(`${url}/events?outcome=error`);
  expect([answer.status, answer.body]).toEqual([200, '{"data":[],"total":0,"limit":100,"offset":0}']);
  expect((await curl(`${url}/events?device_id=%27%20OR%201=1`)).body).toBe('{"data":[],"total":0,"limit":100,"offset":0}');
});

it("[EV-10] a limit, offset or cursor that is not a whole number from 0 is refused by name", async () => {
  const { url } = await startEvents();
  for (const [query, name] of [
    ["limit=-1", "limit"],
    ["limit=", "limit"],
    ["limit=ten", "limit"],
    ["limit=1e2", "limit"],
    ["limit=1.5", "limit"],
    ["limit=%201", "limit"],
    ["offset=-5", "offset"],
    ["after=x", "after"],
  ]) {
    const answer = await curl(`${url}/events?${query}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      `{"error":"Validation failed","issues":[{"path":"${name}","message":"${name} must be a whole number of 0 or more"}]}`,
    ]);
  }
});

it("[EV-11] after=ID continues with older events than that one, whatever arrives meanwhile, and Link names the next page", async () => {
  const { url } = await startEvents();
  await postAll(
    url,
    Array.from({ length: 7 }, (_, index) => eventBody({ outcome: index % 2 ? "ignored" : "accepted" })),
  );
  const seen: number[] = [];
  let next: string | undefined = "/events?limit=3";
  while (next) {
    const answer: Response = await fetch(url + next);
    const { data, total } = (await answer.json()) as { data: { id: number }[]; total: number };
    seen.push(...data.map(({ id }) => id));
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    if (total < 9) await post(url, eventBody());
  }
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect((await getPage(url, "?outcome=accepted&limit=2&after=5")).data.map(({ id }) => id)).toEqual([3, 1]);
});

it("[EV-12] GET /stats counts all, devices and outcomes; zeros when empty", async () => {
  const { url } = await startEvents();
  const empty = await curl(`${url}/stats`);
  expect([empty.status, empty.body]).toEqual([200, '{"total_events":0,"unique_devices":0,"accepted":0,"rejected":0,"ignored":0}']);
  await postAll(url, [
    eventBody(),
    eventBody({ outcome: "rejected" }),
    eventBody({ device_id: device(2), outcome: "ignored" }),
    eventBody({ device_id: device(2) }),
  ]);
  expect(await getStats(url)).toEqual({ total_events: 4, unique_devices: 2, accepted: 2, rejected: 1, ignored: 1 });
});

it("[EV-13] every response may be read by pages of any origin, and a preflight is 204", async () => {
  const { url } = await startEvents();
  for (const path of ["/events", "/stats", "/nothing", "/events?limit=x"]) {
    expect((await curl("-H", "Origin: https://example.com", url + path)).headers["access-control-allow-origin"]).toBe("*");
  }
  const preflight = await curl(
    ...["-X", "OPTIONS", "-H", "Origin: https://example.com", "-H", "Access-Control-Request-Method: POST"],
    ...["-H", "Access-Control-Request-Headers: content-type,x-plugin-version", `${url}/events`],
  );
  expect([preflight.status, preflight.body]).toEqual([204, ""]);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
    "access-control-allow-headers": "content-type,x-plugin-version",
  });
});

it("[EV-10] an offset may be however large", async () => {
  const { url } = await startEvents();
  await post(url, eventBody());
  const large = "99999999999999999999";
  expect((await getPage(url, `?limit=${large}`)).data).toHaveLength(1);
  expect((await getPage(url, `?after=${large}`)).data).toHaveLength(1);
  expect((await getPage(url, `?offset=${large}`)).data).toHaveLength(0);
});

it("[EV-14] a path in a different case has its own methods", async () => {
  const { url } = await startEvents();
  expect((await curl("-X", "DELETE", `${url}/EVENTS`)).headers.allow).toBe("GET, HEAD, POST, OPTIONS");
  expect((await curl("-X", "DELETE", `${url}/STATS`)).headers.allow).toBe("GET, HEAD, OPTIONS");
});

it("[EV-14] every response with content has the same type", async () => {
  const { url, port } = await startEvents();
  const answers = [
    await curl(`${url}/stats`),
    await curl(`${url}/none`),
    await curl("-d", JSON.stringify(eventBody()), `${url}/events`),
    await curl("-H", "Expect: x", `${url}/stats`),
    await httpRequest(`http://127.0.0.1:${port}`, { path: "/stats", headers: { "Transfer-Encoding": "gzip" } }),
  ];
  expect(answers.map(({ headers }) => headers["content-type"])).toEqual(answers.map(() => "application/json"));
});

it("[EV-14] other paths are 404, other methods 405 with Allow, HEAD is GET without content, malformed requests get the same error shape", async () => {
  const { url, port } = await startEvents();
  const unknown = await curl(`${url}/event`);
  expect([unknown.status, unknown.body]).toEqual([404, '{"error":"Not found"}']);
  const put = await curl("-X", "PUT", `${url}/events`);
  expect([put.status, put.body, put.headers.allow]).toEqual([405, '{"error":"Method not allowed"}', "GET, HEAD, POST, OPTIONS"]);
  const head = await curl("--head", `${url}/stats`);
  expect([head.status, head.headers["content-length"], head.body]).toEqual([200, "75", ""]);
  expect((await httpRequest(`http://127.0.0.1:${port}`, { path: "/%ff" })).body).toMatch(/^\{"error":"/);
});

it("[EV-15] rate limit comes before size, size before validation", async () => {
  const { url } = await startEvents({ postRequests: 2 });
  const large = "x".repeat(20_000);
  expect((await post(url, large)).status).toBe(413);
  expect((await post(url, "{}")).status).toBe(400);
  expect((await post(url, large)).status).toBe(429);
  expect((await post(url, "{}")).status).toBe(429);
});

it("[EV-94] the row of a refused request has the reason", async () => {
  const { url, ended } = await startEvents();
  const reasonOf = async (answer: Promise<Response>, status: number) => {
    await (await answer).text();
    return (await ended(({ outcome, reason }) => outcome === String(status) && reason !== undefined && !known.has(reason))).reason ?? "";
  };
  const known = new Set<string>();
  for (const [body, status, reason] of [
    ["{", 400, "Malformed JSON in request body"],
    [eventBody({ outcome: "x" }), 400, /^outcome: /],
    [{}, 400, /^device_id: .*, and 29 more$/],
    ["x".repeat(20_000), 413, "The body is larger than 16384 bytes (Largest body, EVENTS_BODY_BYTES)"],
  ] as const) {
    const found = await reasonOf(post(url, body), status);
    expect(found).toMatch(reason);
    known.add(found);
  }
  expect(await reasonOf(fetch(`${url}/other`), 404)).toBe("Not found");
});

it("[EV-198] pages that clients leave unread are bounded: the connection that has most is closed, and others are answered", async () => {
  const events = await startEvents({ rateLimits: false, allRequestBytes: 4 << 20 });
  await events.act("sample.generate", { count: 1_000, days: 1 });
  await until(async () => (await getPage(events.url, "?limit=1")).total === 1_000);
  // More of each connection than the operating system takes.
  const requests = "GET /events?limit=1000 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(16);
  for (let client = 0; client < 5; client++) (await rawConnection(events.port, requests)).socket.pause();
  await events.ended(({ outcome }) => outcome === "too many bytes of requests");
  expect((await getPage(events.url, "?limit=1000")).data).toHaveLength(1_000);
});
