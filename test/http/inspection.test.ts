import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { runForClient, type WorkingRequest, writeForClient } from "../../servers/core/http/connections/client-work.ts";
import type { HttpResponse } from "../../servers/core/http/http-route.ts";
import { jsonFault, noFault } from "../../servers/core/limits/json-grammar.ts";
import { ClientLeft } from "../../servers/core/service/client-left.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { jsonInSteps } from "../../servers/http/formats/json-in-steps.ts";
import { WrittenJson } from "../../servers/http/formats/written-json.ts";
import { httpRequest } from "../support/http-request.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { answerOf, errorWith, jsonOf } from "./ask.ts";
import { curl } from "./curl.ts";
import { startHttp } from "./harness.ts";

it("[HTTP-55] /get, /post, /put, /patch and /delete return the request, with httpbin's names", async () => {
  const { url, port } = await startHttp();
  expect(await jsonOf(fetch(`${url}/get?a=1&b=2&b=3&__proto__=x`, { headers: { "X-One": "1" } }))).toMatchObject({
    args: JSON.parse('{"a":"1","b":["2","3"],"__proto__":"x"}'),
    headers: { Host: `127.0.0.1:${port}`, "X-One": "1", "User-Agent": "node" },
    origin: "127.0.0.1",
    url: `${url}/get?a=1&b=2&b=3&__proto__=x`,
  });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const told = await jsonOf(
      fetch(`${url}/${method.toLowerCase()}?q=1`, { method, body: '{"a": 1}', headers: { "Content-Type": "application/json" } }),
    );
    expect(told).toMatchObject({
      args: { q: "1" },
      data: '{"a": 1}',
      files: {},
      form: {},
      json: { a: 1 },
      origin: "127.0.0.1",
      url: `${url}/${method.toLowerCase()}?q=1`,
    });
    expect(Object.keys(told)).toEqual(["args", "data", "files", "form", "headers", "json", "origin", "url"]);
  }
  const form = JSON.parse((await curl("-F", "a=1", "-F", "f=content;filename=x.txt", `${url}/post`)).body);
  expect(form).toMatchObject({ form: { a: "1" }, json: null, data: "" });
  expect(JSON.parse((await curl("-d", "a=1&a=2", `${url}/post`)).body)).toMatchObject({ form: { a: ["1", "2"] }, data: "" });
  expect(await jsonOf(fetch(`${url}/post`, { method: "POST", body: new Uint8Array([0, 255]) }))).toMatchObject({
    data: "data:application/octet-stream;base64,AP8=",
  });
  expect(
    await jsonOf(fetch(`${url}/post`, { method: "POST", body: "{bad", headers: { "Content-Type": "application/json" } })),
  ).toMatchObject({ data: "{bad", json: null });
  expect((await fetch(`${url}/get`, { method: "POST" })).status).toBe(405);
});

it("[HTTP-56] /anything accepts any method and any path below it", async () => {
  const { url } = await startHttp();
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
    expect(await jsonOf(fetch(`${url}/anything/a/b%20c?d=1`, { method }))).toMatchObject({
      method,
      args: { d: "1" },
      url: `${url}/anything/a/b%20c?d=1`,
    });
  }
  const told = await jsonOf(fetch(`${url}/anything`));
  expect(Object.keys(told)).toEqual(["args", "data", "files", "form", "headers", "json", "method", "origin", "url"]);
});

it("[HTTP-57] /headers, /ip, /user-agent, /uuid and /base64", async () => {
  const { url, port } = await startHttp();
  expect(
    JSON.parse((await curl("-H", "X-A: 1", "-H", "x-a: 2", "-H", "X-Forwarded-For: 9.9.9.9", `${url}/headers`)).body).headers,
  ).toMatchObject({
    "X-A": "1,2",
    Host: `127.0.0.1:${port}`,
  });
  expect(JSON.parse((await curl("-H", "X-Forwarded-For: 9.9.9.9", `${url}/ip`)).body)).toEqual({ origin: "127.0.0.1" });
  expect(JSON.parse((await curl("-A", "mine/1", `${url}/user-agent`)).body)).toEqual({ "user-agent": "mine/1" });
  expect(await jsonOf(fetch(`${url}/uuid`))).toEqual({
    uuid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
  });
  const decoded = await fetch(`${url}/base64/PHNjcmlwdD4_`);
  expect([decoded.headers.get("content-type"), await decoded.text()]).toEqual(["text/plain; charset=utf-8", "<script>?"]);
  expect(await answerOf(`${url}/base64/a`)).toEqual(errorWith(400));
});

it("[HTTP-62] /delay/:n responds late, at most by the configured time", async () => {
  const { url } = await startHttp({ delaySeconds: 0.3 });
  const startedAt = performance.now();
  expect(
    await jsonOf(
      fetch(`${url}/delay/3600?a=1`, { method: "POST", body: "b=1", headers: { "Content-Type": "application/x-www-form-urlencoded" } }),
    ),
  ).toMatchObject({ args: { a: "1" }, form: { b: "1" } });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295);
  expect(await answerOf(`${url}/delay/x`)).toEqual(errorWith(400));
  expect((await httpRequest(`${url}/delay/0`, { method: "TRACE" })).status).toBe(200);
});

it("[HTTP-144] JSON stays as it was written, but for the white space between its tokens", async () => {
  const { url } = await startHttp();
  const random = seededRandom(144);
  const pick = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
  const space = () => (random.chance(0.2) ? pick([" ", "\n", "\t", "\r\n  "]) : "");
  const list = (text: () => string) => Array.from({ length: random.below(4) }, () => space() + text() + space()).join(",");
  // Names without escapes: JSON.parse of Node 24 confuses some of these.
  const name = () => pick(['"a"', '"a"', '"{,:}"', '"["', '"__proto__"', '""']);
  const string = () => pick(['"a"', '"\\u0041"', '"\\\\"', '"{,:}"', '"\\"["', '""']);
  function json(depth: number): string {
    const kind = random.below(depth > 5 ? 2 : 4);
    if (kind === 0) return pick(["1.0", "-0", "12345678901234567890", "1E400", "true", "null", "0"]);
    if (kind === 1) return string();
    if (kind === 2) return `[${space()}${list(() => json(depth + 1))}]`;
    return `{${space()}${list(() => `${name()}${space()}:${space()}${json(depth + 1)}`)}}`;
  }
  for (let round = 0; round < 60; round++) {
    const text = space() + json(0) + space();
    const ask = async (path: string) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(url + path, { method: "POST", body: text, headers });
      return answer.text();
    };
    const compact = withoutSpace(text);
    expect(await ask("/api/echo")).toBe(`{"status":"success","received":${compact}}`);
    const shown = await ask("/post");
    const { data, json: value } = JSON.parse(shown) as { data: string; json: unknown };
    expect([data, value]).toEqual([text, JSON.parse(text)]);
    expect(withoutSpace(shown)).toContain(`"json":${compact},`);
    // JavaScript writes the rest as it was: the lines are what it makes of it too.
    const plain = JSON.stringify(JSON.parse(text));
    if (plain === compact) expect(shown).toContain(`"json": ${JSON.stringify(JSON.parse(text), null, 2).replaceAll("\n", "\n  ")},`);
  }
});

/** JSON without white space outside of strings. */
const withoutSpace = (json: string): string => json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");

it("[HTTP-24] JSON is what RFC 8259 says", () => {
  const random = seededRandom(24);
  const pick = (items: readonly string[]): string => items[random.below(items.length)] as string;
  const whole = ['{"a":[1,2,{"b":null}],"c":-1.5e+3}', "[]", '"x\\"y"', "[[],{}, 0 ]", "-0.0", "1E5", ""];
  const morsels = [...'{}[],:"\\01-+.eE \n\t\u0001é', "true", "false", "null", "\\u12aF", "\\n", '"a"', '"a":', "tru", ""];
  for (let round = 0; round < 8_000; round++) {
    let text = pick(whole);
    for (let change = random.below(5); change >= 0; change--) {
      const at = random.below(text.length + 1);
      text = text.slice(0, at) + pick(morsels) + text.slice(at + random.below(2));
    }
    expect(isJson(text), JSON.stringify(text)).toBe(isParsed(text));
  }
});

it("[HTTP-149] a large body is read and laid out in many small steps", () => {
  const bytes = Buffer.from(`[${'{"a":[1,"x"]},'.repeat(70_000)}1]`);
  const counted = <Result>(steps: Generator<void, Result>): readonly [number, Result] => {
    for (let count = 0; ; count++) {
      const step = steps.next();
      if (step.done) return [count, step.value];
    }
  };
  const mostBytes = 16 << 10;
  const [read, json] = counted(WrittenJson.read(bytes));
  const [compacted, compact] = counted(json.compact());
  const [indented, lines] = counted(json.indented(1, 4 * bytes.length));
  for (const steps of [read, compacted, indented]) expect(steps).toBeGreaterThan(bytes.length / mostBytes);
  expect(Buffer.concat(compact).equals(bytes)).toBe(true);
  expect(Math.max(...[...compact, ...lines].map(({ length }) => length))).toBeLessThan(1 << 19);
  const text = `${"x".repeat(65_535)}${"😀\n".repeat(65_536)}`;
  const many = Array.from({ length: 5_000 }, (_, index) => index);
  const small = { list: many, empty: [[], {}], 'a"b': [null, true, 1.5, undefined].slice(0, 3), left: undefined };
  for (const value of [text, { [text]: [text] }, small]) {
    for (const isIndented of [false, true]) {
      const [steps, pieces] = counted(jsonInSteps(value, { isIndented }));
      expect([steps > 3, Buffer.concat(pieces).toString()]).toEqual([true, JSON.stringify(value, null, isIndented ? 2 : 0)]);
    }
  }
});

it("[HTTP-149] the line of a fault in JSON is counted in steps, and what is open takes a byte for each level", () => {
  const faultOf = (text: string): string => {
    try {
      for (const step of [WrittenJson.read(Buffer.from(text))]) while (!step.next().done);
      return "none";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(faultOf('[\n"é",\n  x]')).toBe("Invalid JSON at position 9 (line 3 column 3)");
  expect(faultOf(`${"\n".repeat(100_000)}x`)).toBe("Invalid JSON at position 100000 (line 100001 column 1)");
  expect(faultOf(`${"[".repeat(100_000)}${"]".repeat(99_999)}}`)).toBe("Invalid JSON at position 199999 (line 1 column 200000)");
  expect(faultOf(`${'{"a":['.repeat(1_000)}1${"]}".repeat(1_000)}`)).toBe("none");
});

it("[HTTP-149] an answer in many pieces is written in the client's turns, as fast as it reads", async () => {
  const request = { socket: { destroyed: false }, work: new WorkTurns().connection("127.0.0.1") } as WorkingRequest;
  const response = Object.assign(new EventEmitter(), { socket: request.socket }) as HttpResponse;
  const written: string[] = [];
  response.write = ((piece: string) => {
    written.push(piece);
    if (piece !== "b") return true;
    setImmediate(() => {
      expect(written.join("")).toBe("ab");
      response.emit("drain");
    });
    return false;
  }) as HttpResponse["write"];
  await writeForClient(request, response, "abcd");
  expect(written.join("")).toBe("abcd");
});

it("[HTTP-149] of an answer in many small pieces the next are written when those before have left", async () => {
  const request = { socket: { destroyed: false }, work: new WorkTurns().connection("127.0.0.1") } as WorkingRequest;
  const response = Object.assign(new EventEmitter(), { socket: request.socket }) as HttpResponse;
  const pieces = 10_000;
  let [all, waiting, most] = [0, 0, 0];
  response.write = ((_piece: string, sent?: () => void) => {
    all++;
    most = Math.max(most, ++waiting);
    if (sent)
      setImmediate(() => {
        waiting = 0;
        sent();
      });
    return true;
  }) as HttpResponse["write"];
  await writeForClient(request, response, "x".repeat(pieces));
  expect(all).toBe(pieces);
  expect(most).toBeLessThan(1_000);
});

it("[HTTP-149] work for a client that has disconnected ends", async () => {
  const request = { socket: { destroyed: false }, work: new WorkTurns().connection("127.0.0.1") };
  let done = 0;
  function* steps(): Generator<void, void> {
    for (; done < 3; done++) {
      if (done === 2) request.socket.destroyed = true;
      yield;
    }
  }
  await expect(runForClient(request as WorkingRequest, steps())).rejects.toThrow(ClientLeft);
  expect(done).toBe(2);
});

function isJson(text: string): boolean {
  const steps = jsonFault(Buffer.from(text));
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value === noFault;
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it("[HTTP-77] /api and /docs list every route, as JSON or as HTML", async () => {
  const { url } = await startHttp();
  const { routes } = (await jsonOf(fetch(`${url}/api`))) as { routes: { path: string; methods: string[]; summary: string }[] };
  const paths = routes.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(["/", "/api/data", "/api/status/{code}", "/anything/*", "/ws/echo", "/api"]));
  for (const { path, methods } of routes) {
    const concrete = path.replace("/*", "/x").replace(/\{\w+}/g, "1");
    const response = await fetch(url + concrete, { method: "OPTIONS" });
    expect([concrete, response.status]).toEqual([concrete, 204]);
    for (const method of methods) expect(response.headers.get("allow")).toContain(method);
  }
  const page = await curl("-H", "Accept: text/html,application/xhtml+xml,*/*;q=0.8", `${url}/docs`);
  expect([page.headers["content-type"], page.body]).toEqual([
    "text/html; charset=utf-8",
    expect.stringContaining("<code>/api/status/{code}</code>"),
  ]);
});

it("[HTTP-78] nothing that a client sends is returned as HTML", async () => {
  const { url } = await startHttp();
  const attack = "<script>alert(1)</script>";
  const encoded = encodeURIComponent(attack);
  for (const path of [
    `/get?a=${encoded}`,
    `/anything/${encoded}`,
    `/${encoded}`,
    `/status/${encoded}`,
    `/base64/${Buffer.from(attack).toString("base64url")}`,
    `/links/1/${encoded}`,
    `/cookies/set/${encoded}/x`,
    `/response-headers?X=${encoded}`,
  ]) {
    const response = await fetch(url + path, { headers: { "X-Bad": attack, Accept: "text/html" } });
    expect(response.headers.get("content-type")).toMatch(/^(application\/json|text\/plain)/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    await response.text();
  }
});
