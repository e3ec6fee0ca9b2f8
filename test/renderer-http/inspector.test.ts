import { describe, expect, it } from "vitest";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import { statusWord } from "../../contract/traffic/row-filter.ts";
import { isSecretHeader, maskedValue } from "../../contract/traffic/secret-headers.ts";
import { toneOf } from "../../renderer/src/list/cells/tone-mark.tsx";
import { keptTries, type Tried, withTry } from "../../renderer/src/services/http/try-history.ts";
import { checkJson, firstRequest, sentRequest } from "../../renderer/src/services/try/try-request.ts";

describe("secrets", () => {
  it.each(["Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-Api-Key", "x-auth-token", "X-Client-Secret"])(
    "%s is a secret",
    (name) => expect(isSecretHeader(name)).toBe(true),
  );
  it.each(["Accept", "Content-Type", "Access-Control-Allow-Headers", "Content-Security-Policy", "Sec-WebSocket-Key"])(
    "%s is not a secret",
    (name) => expect(isSecretHeader(name)).toBe(false),
  );
  it("keep their scheme when masked", () => {
    expect(maskedValue("authorization", "Bearer abc.def")).toBe("Bearer ••••••");
    expect(maskedValue("x-api-key", "abc")).toBe("••••••");
    expect(maskedValue("cookie", "sid=1; theme=dark")).toBe("sid=••••••; theme=••••••");
    expect(maskedValue("set-cookie", "sid=1; Path=/; HttpOnly")).toBe("sid=••••••; Path=/; HttpOnly");
  });
});

describe("the state of an exchange", () => {
  const exchange = (part: Partial<HttpExchange>): HttpExchange => ({
    kind: "http",
    id: 1,
    at: 0,
    request: { method: "GET", target: "/", httpVersion: "1.1", headers: [], trailers: [], body: { bytes: 0, base64: "" } },
    timing: {},
    connection: { id: 1, remote: "", local: "", requests: 1, openedAt: 0 },
    ...part,
  });
  const response = (status: number, headers: [string, string][] = []) => ({ status, reason: "", headers, body: { bytes: 0, base64: "" } });
  const events: [string, string][] = [["Content-Type", "text/event-stream; charset=utf-8"]];

  it.each([
    [{}, "pending", "pending"],
    [{ aborted: "client left" }, "aborted", "client left"],
    [{ response: response(200), timing: { totalMs: 1 } }, "ok", "200"],
    [{ response: response(301), timing: { totalMs: 1 } }, "neutral", "301"],
    [{ response: response(404), timing: { totalMs: 1 } }, "refused", "404"],
    [{ response: response(503), timing: { totalMs: 1 } }, "failed", "503"],
    [{ response: response(200) }, "running", "200, open"],
    [{ response: response(200), aborted: "client left", timing: { totalMs: 1 } }, "aborted", "200, client left"],
    [{ response: response(200, events), aborted: "client left", timing: { totalMs: 1 } }, "ok", "200"],
  ])("%j is %s: %s", (part, tone, word) => {
    expect(toneOf(exchange(part))).toEqual({ tone, word });
  });

  it.each([
    ["pending", "http", "", "pending"],
    ["pending", "http", "200", "open"],
    ["pending", "websocket", "101", "open"],
    ["aborted", "http", "200, client left", "aborted"],
    ["ok", "http", "200, client left", "200"],
    ["refused", "http", "404", "404"],
  ] as const)("a row that is %s (%s, %j) says %s", (tone, kind, outcome, word) => {
    expect(statusWord({ tone, kind, outcome })).toBe(word);
  });
});

describe("Try", () => {
  it("sends headers with a name only, a path, and a body only with methods that have one", () => {
    const headers = [
      ["", "x"],
      [" Accept ", "a"],
    ] as const;
    expect(sentRequest({ method: "GET", target: "health", headers, body: "{}" })).toEqual({
      method: "GET",
      target: "/health",
      headers: [["Accept", "a"]],
      body: "",
    });
    expect(sentRequest({ ...firstRequest, method: "POST", body: "{}" }).body).toBe("{}");
  });

  it("checks JSON if JSON is chosen", () => {
    const post = { ...firstRequest, method: "POST" as const };
    expect(checkJson({ ...post, body: "hello" })).toEqual({ state: "none" });
    expect(checkJson({ ...post, body: '{"a":1}' })).toEqual({ state: "valid" });
    expect(checkJson({ ...post, body: '{\n  "a": 1,\n}' })).toMatchObject({
      state: "invalid",
      problem: expect.stringContaining("line 3 column 1"),
    });
    expect(checkJson({ ...post, headers: [["content-type", "application/json"]], body: "x" })).toMatchObject({ state: "invalid" });
    expect(checkJson({ ...post, headers: [["content-type", "text/plain"]], body: "{x" })).toEqual({ state: "none" });
  });

  it("remembers twenty tries, each request once", () => {
    let history: readonly Tried[] = [];
    for (let at = 0; at < 30; at++) history = withTry(history, { at, request: { ...firstRequest, target: `/${at}` }, status: 200 });
    expect(history).toHaveLength(keptTries);
    history = withTry(history, { at: 99, request: { ...firstRequest, target: "/20" }, status: 404 });
    expect(history).toHaveLength(keptTries);
    expect(history[0]).toMatchObject({ at: 99, status: 404 });
    expect(history.filter(({ request }) => request.target === "/20")).toHaveLength(1);
  });
});
