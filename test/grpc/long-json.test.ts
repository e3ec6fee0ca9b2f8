import { connect } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { HeldBytes } from "../../servers/grpc/engine/held-bytes.ts";
import { LongJson } from "../../servers/grpc/engine/long-json.ts";
import { itemsOfShare, workTime } from "../support/work-time.ts";
import { onEnd, startGrpc } from "./harness.ts";
import { framed } from "./raw-call.ts";

it("[GRPC-195] a long message of JSON is counted, read and handled in turns of their own, and held in the budget of messages meanwhile", async () => {
  const { turns, pass } = workTime();
  const longer = () => {
    for (let item = 0; item <= itemsOfShare; item++) pass();
  };
  const done: string[] = [];
  const none = { set() {}, leave() {}, close() {} };
  const held = new HeldBytes({ ...none, add() {} });
  const long = new LongJson({
    json: {
      *longRequest(json) {
        longer();
        done.push("read");
        yield;
        return json;
      },
    },
    work: turns.connection("10.0.0.1"),
    held,
    messageValues: 10,
    deliver: (bytes) => void done.push(`handled ${bytes.length}`),
  });
  const read = long.read(Buffer.from('"x"'));
  expect([done, held.bytes]).toEqual([["read"], 3]);
  await nextTurn();
  await read;
  expect([done, held.bytes]).toEqual([["read", "handled 3"], 0]);
  const dropped = long.read(Buffer.from('"y"'));
  held.close();
  await dropped;
  expect(done).toEqual(["read", "handled 3", "read"]);
});

it("[GRPC-195] long messages of JSON are answered in order, each with its content", async () => {
  const service = await startGrpc();
  const sizes = [300_000, 10, 200_000];
  for (const size of sizes) {
    const answer = await fetch(`${service.webUrl}/example.EchoService/EchoUnary`, {
      method: "POST",
      headers: { "content-type": "application/json", "connect-protocol-version": "1" },
      body: JSON.stringify({ message: "é".repeat(size) }),
    });
    expect([answer.status, ((await answer.json()) as { message: string }).message.length]).toEqual([200, size]);
  }
  const bad = await fetch(`${service.webUrl}/example.EchoService/EchoUnary`, {
    method: "POST",
    headers: { "content-type": "application/json", "connect-protocol-version": "1" },
    body: `{"message":"${"x".repeat(100_000)}`,
  });
  expect([bad.status, ((await bad.json()) as { code: string }).code]).toEqual([400, "invalid_argument"]);
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  const fields = { ":path": "/example.EchoService/EchoBidiStream", "content-type": "application/grpc+json", te: "trailers" };
  const stream = session.request({ ":method": "POST", ...fields });
  const texts = sizes.map((size) => "y".repeat(size));
  const messages = texts.map((text) => framed(Buffer.from(JSON.stringify({ message: text }))));
  stream.end(Buffer.concat(messages));
  expect(Buffer.concat(await stream.toArray())).toEqual(Buffer.concat(messages));
});
