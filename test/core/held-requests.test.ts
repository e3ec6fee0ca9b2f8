import { it, onTestFinished } from "vitest";
import { HttpRefusal } from "../../servers/core/http/messages/http-refusal.ts";
import { readBody } from "../../servers/core/http/messages/request-body.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { rawConnection } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { listenHttp } from "./listen-http.ts";

it("[HTTP-148] a body counts while it waits for its reader: where there is too much, it is dropped and its request is 503", async () => {
  const turns = new WorkTurns();
  onTestFinished(() => turns.close());
  const login = Promise.withResolvers<void>();
  let waiting = 0;
  const { port } = await listenHttp({
    turns,
    heldBytes: 200_000,
    async dispatch(request, response) {
      if (request.url === "/later") {
        waiting++;
        await login.promise;
      }
      try {
        response.end(String((await readBody(request, response, 1 << 20)).length));
      } catch (error) {
        response.writeHead(error instanceof HttpRefusal ? error.status : 500).end();
      }
    },
  });
  const head = (target: string, length: number) => `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
  const later = async (length: number, sent: number) => {
    const connection = await rawConnection(port, head("/later", length));
    connection.send("x".repeat(sent));
    return connection;
  };
  const large = await later(80_000, 60_000);
  const small = await later(30_001, 30_000);
  await until(() => waiting === 2);
  const other = await rawConnection(port, head("/now", 50_001));
  other.send("x".repeat(50_000));
  // Of the heads and bodies of all there is too much with these, where those that wait count.
  const last = await later(100, 100);
  await until(() => waiting === 3);
  other.send("x");
  await other.received(/200 OK/);
  login.resolve();
  small.send("x");
  large.send("x".repeat(20_000));
  await large.received(/^HTTP\/1.1 503 /);
  await small.received(/^HTTP\/1.1 200 OK[\s\S]*30001$/);
  await last.received(/^HTTP\/1.1 200 OK[\s\S]*100$/);
  // The connection goes on.
  large.send(head("/now", 1).concat("x"));
  await large.received(/^HTTP\/1.1 503 [\s\S]*HTTP\/1.1 200 OK/);
});
