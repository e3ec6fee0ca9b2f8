import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createHttpDispatch } from "../../servers/core/http/http-dispatch.ts";
import type { HttpRequest, HttpResponse } from "../../servers/core/http/http-route.ts";
import { createCors } from "../../servers/core/http/messages/cors.ts";
import { HttpRefusal } from "../../servers/core/http/messages/http-refusal.ts";
import { BodyTooLarge } from "../../servers/core/http/messages/request-body.ts";
import { ClientLeft } from "../../servers/core/service/client-left.ts";
import type { Log } from "../../servers/core/service/log.ts";
import { raw } from "../http/harness.ts";

async function serve(handle: (request: HttpRequest, response: HttpResponse) => void | Promise<void>) {
  const refusal = (status: number) => () => new HttpRefusal(status, "refused");
  const logged: string[] = [];
  const dispatch = createHttpDispatch({
    routes: [{ path: "/", methods: ["GET", "HEAD"], handle }],
    cors: createCors({ origins: ["*"], exposed: "", methods: "GET", isPreflight: () => false }),
    errors: {
      body: (_status, message) => message,
      notFound: refusal(404),
      notAllowed: refusal(405),
      badPath: refusal(400),
      tooLarge: refusal(413),
      refusalOf: () => new HttpRefusal(500, "fault"),
    },
    log: { error: (message: string) => logged.push(message) } as unknown as Log,
  });
  const server = createServer((request, response) => dispatch(request as HttpRequest, response as HttpResponse));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, logged };
}

const head = "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

it("[BL-421] an error that refuses a client has no stack", () => {
  for (const error of [new HttpRefusal(400, "no"), new ClientLeft(), new BodyTooLarge()]) expect(error.stack).not.toMatch(/\n\s+at /);
  expect(new Error("other").stack).toMatch(/\n\s+at /);
});

it("[BL-411] a fault is answered without the fields of the answer that failed", async () => {
  const { port } = await serve(async (_request, response) => {
    response.setHeader("Trailer", "X-Sum");
    response.setHeader("Content-Range", "bytes 0-1/2");
    response.setHeader("X-Kept", "1");
    response.write("x");
  });
  const answer = await raw(port, head);
  expect(answer).toMatch(/^HTTP\/1.1 500 /);
  expect(answer).toContain("X-Kept: 1");
  expect(answer).not.toMatch(/Trailer|Content-Range/);
});

it("[BL-411] a refusal that fails closes the connection, and the service goes on", async () => {
  const { port, logged } = await serve(async (_request, response) => {
    response.writeHead = () => {
      throw new Error("no head");
    };
    throw new Error("fault");
  });
  expect(await raw(port, head)).toBe("");
  expect(await raw(port, head)).toBe("");
  expect(logged).toEqual(Array(2).fill("HEAD failed, and so did its refusal: no head"));
});
