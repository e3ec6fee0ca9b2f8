import { expect, it } from "vitest";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { startGrpc } from "./harness.ts";
import { post } from "./web-clients.ts";

it("[GRPC-331] long requests of gRPC-Web's text form that arrive at once are all read to their end", async () => {
  const { webUrl } = await startGrpc();
  const content = Buffer.concat([Buffer.from([10, 0xc0, 0x84, 0x3d]), Buffer.alloc(1_000_000, "a")]);
  const body = frameOf(content).toString("base64");
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      post(`${webUrl}/example.EchoService/EchoUnary`, { "content-type": "application/grpc-web-text" }, body),
    ),
  );
  expect(new Set(answers.map(({ status, bytes }) => `${status} ${bytes.length > 1_000_000}`))).toEqual(new Set(["200 true"]));
});
