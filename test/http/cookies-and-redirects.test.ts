import { expect, it } from "vitest";
import type { HttpRequest } from "../../servers/core/http/http-route.ts";
import { cookiesOf } from "../../servers/http/routes/cookie-routes.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { answerOf, errorWith, jsonOf } from "./ask.ts";
import { curl } from "./curl.ts";
import { startHttp } from "./harness.ts";

it("[HTTP-58] cookies are returned, set and deleted", async () => {
  const { url } = await startHttp();
  expect(await jsonOf(fetch(`${url}/cookies`, { headers: { Cookie: 'a=1; b="two"; c=%C3%BC; a=3; d="%C3%BC"' } }))).toEqual({
    cookies: { a: "1", b: "two", c: "%C3%BC", d: "ü" },
  });
  // What cannot be decoded is returned as it came.
  expect(
    await jsonOf(fetch(`${url}/cookies`, { headers: { Cookie: 'a="%"; b="%2"; c="%FF"; d="%C3%BC%C3"; e="%41%20"; f="%ED%A0%80"' } })),
  ).toEqual({
    cookies: { a: "%", b: "%2", c: "%FF", d: "%C3%BC%C3", e: "A ", f: "%ED%A0%80" },
  });
  const set = await fetch(`${url}/cookies/set?one=1%25&two=a%20b%3B`, { redirect: "manual" });
  expect([set.status, set.headers.get("location"), set.headers.getSetCookie()]).toEqual([
    302,
    "/cookies",
    ["one=1%; Path=/", 'two="a%20b%3B"; Path=/'],
  ]);
  expect((await fetch(`${url}/cookies/set/n/v`, { redirect: "manual" })).headers.getSetCookie()).toEqual(["n=v; Path=/"]);
  expect((await fetch(`${url}/cookies/delete?n`, { redirect: "manual" })).headers.getSetCookie()).toEqual([
    "n=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
  ]);
  expect(await answerOf(`${url}/cookies/set?a%0d%0ab=1`)).toEqual(errorWith(400));
  const jar = await curl("-L", "-c", "/dev/null", "-b", "x=y", `${url}/cookies/set/flavour/chocolate%20chip`);
  expect(JSON.parse(jar.body)).toEqual({ cookies: { x: "y", flavour: "chocolate chip" } });
});

it("[HTTP-58] thousands of cookies that cannot be decoded take no longer than others", () => {
  const timeOf = (value: string) => {
    const cookie = Array.from({ length: 20_000 }, (_, index) => `a${index}="${value}"`).join(";");
    const request = { headers: { cookie } } as HttpRequest;
    return Math.min(...Array.from({ length: 3 }, () => threadCpuMs(() => cookiesOf(request))));
  };
  const usual = timeOf("%C3%BC");
  for (const value of ["%", "%FF"]) expect(timeOf(value)).toBeLessThan(2 * usual + 8);
});

it("[HTTP-59] redirects end at /get after the requested number of hops", async () => {
  const { url } = await startHttp();
  for (const path of ["/redirect/3", "/relative-redirect/3", "/absolute-redirect/3", "/redirect/3?absolute=true"]) {
    const answer = await curl("-L", url + path);
    expect(answer.all.match(/^HTTP\/1.1 302/gm)).toHaveLength(3);
    expect(JSON.parse(answer.body).url).toBe(`${url}/get`);
  }
  expect((await fetch(`${url}/absolute-redirect/2`, { redirect: "manual" })).headers.get("location")).toBe(`${url}/absolute-redirect/1`);
  for (const count of ["0", "-1", "x", "101"]) expect(await answerOf(`${url}/redirect/${count}`)).toEqual(errorWith(400));
});

it("[HTTP-60] /redirect-to redirects to this computer and to allowed hosts only", async () => {
  const { url } = await startHttp({ redirectHosts: ["ok.example", "*.wide.example"] });
  const to = async (target: string, more = "") => {
    const response = await fetch(`${url}/redirect-to?url=${encodeURIComponent(target)}${more}`, { redirect: "manual" });
    await response.text();
    return [response.status, response.headers.get("location")];
  };
  for (const target of [
    "/get",
    "get?a=1",
    "http://localhost:1/x",
    "http://127.1.2.3/",
    "http://[::1]/",
    "https://ok.example/a",
    "http://deep.wide.example/",
  ]) {
    expect(await to(target)).toEqual([302, target]);
  }
  expect(await to("http:evil.example")).toEqual([302, `${url}/evil.example`]);
  expect(await to("/get", "&status_code=307")).toEqual([307, "/get"]);
  for (const target of [
    "http://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "/\t/evil.example",
    "http://ok.example.evil.example/",
    "http://wide.example/",
    "http://a@evil.example/",
  ]) {
    expect((await to(target))[0]).toBe(403);
  }
  for (const target of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", ""]) expect((await to(target))[0]).toBe(400);
  expect((await to("/get", "&status_code=200"))[0]).toBe(400);
  expect((await to("/a\r\nSet-Cookie: b"))[1]).not.toContain("\n");
});
