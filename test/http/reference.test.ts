import { expect, it } from "vitest";
import { httpRequest } from "../support/http-request.ts";
import { curl } from "./curl.ts";
import { raw, rawConnection, startHttp } from "./harness.ts";

const json = "application/json";

it("[HTTP-1] GET / and /api/status return the service's status", async () => {
  const { url } = await startHttp();
  for (const path of ["/", "/api/status"]) {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(json);
    expect(await response.text()).toBe('{"service":"http-mock","status":"running","version":"1.0.0"}');
  }
});

it("[HTTP-2] GET /api/data returns the sample record", async () => {
  const { url } = await startHttp();
  expect((await curl(`${url}/api/data`)).body).toBe('{"id":1,"name":"Test Data","value":42,"active":true}');
});

it("[HTTP-3] GET /health returns ok", async () => {
  const { url } = await startHttp();
  expect((await curl(`${url}/health`)).body).toBe('{"status":"ok"}');
});

it("[HTTP-4] /api/status/N responds with each status from 200 to 599", async () => {
  const { url } = await startHttp();
  for (let code = 200; code < 600; code++) {
    // fetch takes a 407 for a failure of the network.
    const answer = await httpRequest(`${url}/api/status/${code}`);
    expect(answer.status).toBe(code);
    const empty = code === 204 || code === 205 || code === 304;
    expect(answer.body).toBe(empty ? "" : `{"status":"success","code":${code}}`);
  }
});

it("[HTTP-5] 204 and 304 carry no content and no Content-Length, 205 a Content-Length of 0", async () => {
  const { port } = await startHttp();
  for (const code of [204, 205, 304]) {
    const answer = await raw(port, `GET /api/status/${code} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    expect(answer).toMatch(/\r\n\r\n$/);
    expect(answer).not.toMatch(/transfer-encoding|content-type:/i);
    if (code === 205) expect(answer).toMatch(/content-length: 0\r\n/i);
    else expect(answer).not.toMatch(/content-length/i);
  }
});

it.each(["199", "600", "100", "0", "-1", "20", "2000", "200.5", "abc", "2e2", "0x200", "%20200", "+200"])(
  "[HTTP-6] /api/status/%s is refused",
  async (code) => {
    const { url } = await startHttp();
    const response = await fetch(`${url}/api/status/${code}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toBe('{"status":"error","message":"Invalid status code"}');
  },
);

it("[HTTP-7] 401, 405, 407 and 426 come with the fields that RFC 9110 asks for", async () => {
  const { url } = await startHttp();
  const headersOf = async (code: number) => (await curl(`${url}/api/status/${code}`)).headers;
  expect((await headersOf(401))["www-authenticate"]).toMatch(/^Basic realm=/);
  expect((await headersOf(405)).allow).toContain("GET");
  expect((await headersOf(407))["proxy-authenticate"]).toMatch(/^Basic realm=/);
  // What a client asks of the connection is not overwritten: one that wants it closed need not wait.
  expect(await headersOf(426)).toMatchObject({ upgrade: "websocket", connection: "Upgrade, close" });
});

it("[HTTP-8] /api/delay/N waits, accepts fractions and refuses values out of bounds", async () => {
  const { url } = await startHttp();
  const startedAt = performance.now();
  const response = await fetch(`${url}/api/delay/0.25`);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(245);
  expect(await response.json()).toEqual({ status: "success", delay: 0.25 });
  expect((await fetch(`${url}/api/delay/0`)).status).toBe(200);
  for (const seconds of ["10.001", "11", "-1", "abc", "1e1", "NaN", "Infinity"]) {
    const refused = await fetch(`${url}/api/delay/${seconds}`);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ status: "error", message: expect.stringContaining("Invalid delay") });
  }
});

it("[HTTP-9] a client that disconnects ends the wait", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "GET /api/delay/10 HTTP/1.1\r\nHost: a\r\n\r\n");
  await new Promise((resolve) => setTimeout(resolve, 100));
  connection.socket.destroy();
  const row = await service.ended((one) => one.target === "/api/delay/10");
  expect(row).toMatchObject({ tone: "aborted", outcome: "client left" });
  expect(row.tookMs).toBeLessThan(10_000);
});

const echo = (url: string, body: string | Uint8Array<ArrayBuffer> | FormData | undefined, type?: string) =>
  fetch(`${url}/api/echo`, { method: "POST", body, ...(type && { headers: { "Content-Type": type } }) });

it.each(['{"a":1,"b":[true,null,"ü"]}', "[]", '"text"', "42", "null", "false", '{"__proto__":{"a":1},"constructor":2}'])(
  "[HTTP-10] echoes the JSON %s",
  async (text) => {
    const { url } = await startHttp();
    const response = await echo(url, text, "application/json");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(`{"status":"success","received":${text}}`);
  },
);

it.each([
  ...["12345678901234567890", "0.12345678901234567890", "1e400", "[1E3,1.50000000000]"],
  ...['{"a":1.0}', "-0", "[-0.0]", "0.10", "100.00", "0.0000001", "12345678901.123456789", "1234567.123456789"],
])("[HTTP-11] echoes the number %s as it was written", async (text) => {
  const { url } = await startHttp();
  expect(await (await echo(url, text, "application/vnd.api+json")).text()).toBe(`{"status":"success","received":${text}}`);
});

it("[HTTP-12] echoes forms, text, multipart and binary with a description", async () => {
  const { url } = await startHttp();
  expect(await (await echo(url, "a=1&b=2&b=3&__proto__=x", "application/x-www-form-urlencoded")).json()).toMatchObject({
    received: { a: "1", b: ["2", "3"] },
    contentType: "application/x-www-form-urlencoded",
    bytes: 23,
  });
  expect(await (await echo(url, "hëllo", "text/plain;charset=UTF-8")).json()).toEqual({
    status: "success",
    received: "hëllo",
    contentType: "text/plain",
    bytes: 6,
  });
  expect(await (await echo(url, new Uint8Array([0xe9]), "text/plain; charset=ISO-8859-1")).json()).toMatchObject({ received: "é" });
  expect(await (await echo(url, new Uint8Array([0, 255, 1]), "application/octet-stream")).json()).toEqual({
    status: "success",
    received: "AP8B",
    encoding: "base64",
    contentType: "application/octet-stream",
    bytes: 3,
  });
  for (const type of ["application/x-ndjson", "application/x-yaml", "application/yaml", "application/toml"]) {
    expect(await (await echo(url, "a: 1\n", type)).json()).toMatchObject({ received: "a: 1\n", contentType: type });
  }
  const form = new FormData();
  form.set("name", "value");
  form.set("file", new File(["content"], "note.txt", { type: "text/plain" }));
  expect(await (await echo(url, form)).json()).toMatchObject({
    received: {
      fields: { name: "value" },
      files: [{ field: "file", filename: "note.txt", contentType: "text/plain", bytes: 7, text: "content" }],
    },
    contentType: "multipart/form-data",
  });
});

it("[HTTP-13] echoes nothing as null", async () => {
  const { url } = await startHttp();
  expect(await (await echo(url, undefined)).text()).toBe('{"status":"success","received":null}');
});
