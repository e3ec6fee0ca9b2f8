import { expect, it } from "vitest";
import { answerOf, errorWith } from "./ask.ts";
import { curl } from "./curl.ts";
import { startHttp } from "./harness.ts";

it("[HTTP-66] /bytes gives random bytes, the same for the same seed", async () => {
  const { url } = await startHttp();
  const bytes = async (path: string) => Buffer.from(await (await fetch(url + path)).arrayBuffer());
  expect(await bytes("/bytes/1000")).toHaveLength(1_000);
  expect(await bytes("/bytes/64?seed=a")).toEqual(await bytes("/bytes/64?seed=a"));
  expect(await bytes("/bytes/64?seed=a")).not.toEqual(await bytes("/bytes/64?seed=b"));
  expect(await bytes("/bytes/999999")).toHaveLength(102_400);
  expect(await bytes("/stream-bytes/64?seed=a&chunk_size=7")).toEqual(await bytes("/bytes/64?seed=a"));
  for (const path of ["/bytes/x", "/bytes/-1", "/stream-bytes/5?chunk_size=0"]) expect(await answerOf(url + path)).toEqual(errorWith(400));
});

it("[HTTP-67] /stream sends the requested number of JSON lines, up to the configured maximum", async () => {
  const { url } = await startHttp();
  const lines = async (path: string) =>
    (await (await fetch(url + path)).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const three = await lines("/stream/3?a=1");
  expect(three.map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(three[0]).toMatchObject({ args: { a: "1" }, origin: "127.0.0.1", url: `${url}/stream/3?a=1` });
  expect(await lines("/stream/500")).toHaveLength(100);
});

it("[HTTP-68] /drip sends bytes slowly over its duration", async () => {
  const { url } = await startHttp();
  const startedAt = performance.now();
  const response = await fetch(`${url}/drip?numbytes=5&duration=300ms&delay=100ms&code=201`);
  expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([201, "5", "*****"]);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(390);
  expect((await (await fetch(`${url}/drip?numbytes=200000&duration=0`)).text()).length).toBe(102_400);
  for (const query of ["numbytes=0", "numbytes=x", "duration=11", "duration=6&delay=6", "code=99", "code=700"])
    expect(await answerOf(`${url}/drip?${query}`)).toEqual(errorWith(400));
});

it("[HTTP-69] /range serves one range as 206 with Content-Range", async () => {
  const { url } = await startHttp();
  const range = async (field: string | undefined, more: Record<string, string> = {}) => {
    const response = await fetch(`${url}/range/100`, { headers: { ...(field && { Range: field }), ...more } });
    return [response.status, response.headers.get("content-range"), await response.text()] as const;
  };
  const whole = "abcdefghijklmnopqrstuvwxyz".repeat(4).slice(0, 100);
  expect(await range(undefined)).toEqual([200, null, whole]);
  expect(await range("bytes=0-4")).toEqual([206, "bytes 0-4/100", "abcde"]);
  expect(await range("bytes=26-29")).toEqual([206, "bytes 26-29/100", "abcd"]);
  expect(await range("bytes=95-")).toEqual([206, "bytes 95-99/100", whole.slice(95)]);
  expect(await range("bytes=-3")).toEqual([206, "bytes 97-99/100", whole.slice(97)]);
  expect(await range("bytes=90-500")).toEqual([206, "bytes 90-99/100", whole.slice(90)]);
  expect(await range("bytes=-500")).toEqual([206, "bytes 0-99/100", whole]);
  for (const ignored of ["lines=0-1", "bytes=5-1", "bytes=x", "bytes=", "bytes=-", `bytes=${"0-1,".repeat(20)}0-1`])
    expect(await range(ignored)).toEqual([200, null, whole]);
  const beyond = await range("bytes=100-");
  expect(beyond.slice(0, 2)).toEqual([416, "bytes */100"]);
  expect((await range("bytes=-0"))[0]).toBe(416);
  expect((await range("bytes=0-1", { "If-Range": '"range100"' }))[0]).toBe(206);
  expect((await range("bytes=0-1", { "If-Range": 'W/"range100"' }))[0]).toBe(200);
  expect((await range("bytes=0-1", { "If-Range": '"other"' }))[0]).toBe(200);
  expect(await answerOf(`${url}/range/0`)).toEqual(errorWith(404));
  expect((await curl("-r", "0-2,24-27", `${url}/range/100`)).status).toBe(206);
});

it("[HTTP-70] several ranges are sent as multipart/byteranges", async () => {
  const { url } = await startHttp();
  const response = await fetch(`${url}/range/100`, { headers: { Range: "bytes=0-1, 50-51, 300-400" } });
  expect([response.status, response.headers.get("content-range")]).toEqual([206, null]);
  const boundary = /boundary=(\S+)$/.exec(response.headers.get("content-type") ?? "")?.[1];
  const part = (range: string, text: string) =>
    `--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${range}/100\r\n\r\n${text}\r\n`;
  expect(await response.text()).toBe(`${part("0-1", "ab")}${part("50-51", "yz")}--${boundary}--\r\n`);
});
