import { once } from "node:events";
import { createServer, type ServerOptions } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createRecordedClasses, type RecordedRequest } from "../../servers/core/http/record/recorded-messages.ts";
import { until } from "../support/until.ts";

it("[BL-492] of a request that was answered before its body came whole, an idle connection keeps nothing", async () => {
  let hasEnded = false;
  let socket: (Socket & { readonly parser?: { readonly incoming: unknown } | null }) | undefined;
  const server = createServer(createRecordedClasses() as unknown as ServerOptions, (message, response) => {
    const request = message as RecordedRequest;
    ({ socket } = request);
    const end = () => {
      hasEnded = true;
    };
    request.readWith({ take() {}, end, left() {} });
    response.end("early");
  });
  // Its connection stays open.
  server.keepAliveTimeout = 0;
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  await once(client, "data");
  expect(socket?.parser?.incoming).not.toBeNull();
  client.write("cd");
  await until(() => hasEnded);
  await until(() => socket?.parser?.incoming === null);
});
