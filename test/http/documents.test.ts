import { expect, it } from "vitest";
import { answerOf, errorWith } from "./ask.ts";
import { curl } from "./curl.ts";
import { startHttp } from "./harness.ts";

it("[HTTP-73] /image chooses by Accept", async () => {
  const { url } = await startHttp();
  const type = async (accept?: string) =>
    (await curl("-H", accept === undefined ? "Accept:" : `Accept: ${accept}`, `${url}/image`)).headers["content-type"];
  expect(await type()).toBe("image/png");
  expect(await type("*/*")).toBe("image/png");
  expect(await type("image/webp")).toBe("image/webp");
  expect(await type("image/svg+xml;q=0.9,image/jpeg;q=0.3,*/*;q=0.1")).toBe("image/svg+xml");
  expect(await type("image/png;q=0,image/*;q=0.5")).toBe("image/webp");
  // The time that reading it takes would grow with more than its length.
  expect([await type(`image/webp,${"a/b,".repeat(253)}`), await type(`image/webp,${"a/b,".repeat(254)}`)]).toEqual([
    "image/webp",
    "image/png",
  ]);
  expect(await answerOf(`${url}/image`, { headers: { Accept: "application/json" } })).toEqual(errorWith(406));
  const magic = async (path: string) => Buffer.from(await (await fetch(url + path)).arrayBuffer()).toString("latin1", 0, 12);
  expect(await magic("/image/png")).toMatch(/^\x89PNG\r\n/);
  expect(await magic("/image/jpeg")).toMatch(/^\xff\xd8\xff/);
  expect(await magic("/image/webp")).toMatch(/^RIFF[\s\S]{4}WEBP$/);
  expect(await magic("/image/svg")).toMatch(/^<svg /);
});

it("[HTTP-74] documents of several kinds", async () => {
  const { url } = await startHttp();
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return [response.status, response.headers.get("content-type"), await response.text()] as const;
  };
  expect(await get("/html")).toEqual([200, "text/html; charset=utf-8", expect.stringContaining("<h1>Herman Melville - Moby-Dick</h1>")]);
  expect(await get("/xml")).toEqual([200, "application/xml", expect.stringMatching(/^<\?xml [\s\S]*<slideshow /)]);
  expect(JSON.parse((await get("/json"))[2]).slideshow.title).toBe("Sample Slide Show");
  expect(await get("/robots.txt")).toEqual([200, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /deny\n"]);
  expect((await get("/deny"))[2]).toContain("YOU SHOULDN'T BE HERE");
  expect((await get("/encoding/utf8"))[2]).toContain("いろはにほへと");
  expect((await get("/forms/post"))[2]).toContain('action="/post"');
  expect((await fetch(`${url}/html`)).headers.get("content-security-policy")).toContain("default-src 'none'");
});

it("[HTTP-75] /links returns a page of links, up to the configured maximum", async () => {
  const { url } = await startHttp();
  const first = await fetch(`${url}/links/3`);
  expect(first.url).toBe(`${url}/links/3/0`);
  expect(await first.text()).toContain("<body>0 <a href='/links/3/1'>1</a> <a href='/links/3/2'>2</a></body>");
  expect((await (await fetch(`${url}/links/9999/0`)).text()).match(/<a /g)).toHaveLength(255);
});
