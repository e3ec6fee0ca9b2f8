import { writeFileSync } from "node:fs";
import { connect } from "node:http2";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { HeldBytes } from "../../servers/grpc/engine/held-bytes.ts";
import { readLongJson } from "../../servers/grpc/engine/long-json.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { workTime } from "../support/work-time.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { echoUnary, framed } from "./raw-call.ts";

it("[GRPC-195] a long message of JSON is read when it is the connection's turn, handled in a turn, and held in the budget of messages meanwhile", async () => {
  const { turns } = workTime();
  const done: string[] = [];
  const none = { amount: 0, set() {}, leave() {}, close() {} };
  const held = new HeldBytes({ ...none, add() {} });
  const begun: (() => void)[] = [];
  const options = {
    thread: {
      async request(_method: unknown, json: Uint8Array) {
        done.push("read");
        await new Promise<void>((resolve) => begun.push(resolve));
        return json;
      },
    },
    method: undefined as never,
    work: turns.connection("10.0.0.1"),
    held,
    messageValues: 10,
    deliver: (bytes: Uint8Array) => void done.push(`handled ${bytes.length}`),
  };
  const reads = Array.from({ length: 4 }, () => readLongJson(Buffer.from('"x"'), options));
  await nextTurn();
  // Others have threads, too.
  expect([done, held.bytes]).toEqual([["read", "read"], 12]);
  begun[0]?.();
  await reads[0];
  await nextTurn();
  expect([done, held.bytes]).toEqual([["read", "read", "read", "handled 3"], 9]);
  held.close();
  for (let read = 1; read < begun.length; read++) begun[read]?.();
  await Promise.all(reads);
  expect(done).toEqual(["read", "read", "read", "handled 3"]);
});

const valuesProto = `syntax = "proto3"; package v; import "google/protobuf/struct.proto";
service Values { rpc Put(In) returns (Out); } message In { google.protobuf.ListValue list = 1; string name = 2; } message Out {}`;

const postJson = (service: GrpcUnderTest, method: string, body: string) =>
  fetch(`${service.webUrl}${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", "connect-protocol-version": "1" },
    body,
  });

it("[GRPC-195] other calls are answered while another thread reads and writes long messages of JSON", async () => {
  const dir = temporaryDir();
  writeFileSync(path.join(dir, "values.proto"), valuesProto);
  const service = await startGrpc({ protos: [dir] });
  const list = Array(120_000).fill(0);
  const body = JSON.stringify({ list });
  const put = (text = body) => postJson(service, "/v.Values/Put", text);
  expect(await (await put()).json()).toEqual({});
  const longestTurnMs = async () => {
    let isOver = false;
    const answers = Promise.all([put(), put(), put()]).finally(() => (isOver = true));
    let mostMs = 0;
    while (!isOver) {
      const from = process.threadCpuUsage();
      await nextTurn();
      const { user, system } = process.threadCpuUsage(from);
      mostMs = Math.max(mostMs, (user + system) / 1_000);
    }
    for (const answer of await answers) expect(answer.status).toBe(200);
    return mostMs;
  };
  // In this thread it takes some ninety times as long as to parse and write the text. A collection may fall into one of the rounds.
  const rounds = [await longestTurnMs(), await longestTurnMs(), await longestTurnMs()];
  const unitMs = threadCpuMs(() => Array.from({ length: 20 }, () => JSON.stringify(JSON.parse(body)))) / 20;
  expect(Math.min(...rounds)).toBeLessThan(50 * unitMs);
  const wrong = await put(JSON.stringify({ list, name: 1 }));
  expect([wrong.status, ((await wrong.json()) as { message: string }).message]).toEqual([
    400,
    expect.stringContaining("not valid JSON for v.In"),
  ]);
});

it("[GRPC-195] long messages of JSON are answered in order, each with its content", async () => {
  const service = await startGrpc();
  const sizes = [300_000, 10, 200_000];
  for (const size of sizes) {
    const answer = await postJson(service, echoUnary, JSON.stringify({ message: "é".repeat(size) }));
    expect([answer.status, ((await answer.json()) as { message: string }).message.length]).toEqual([200, size]);
  }
  const bad = await postJson(service, echoUnary, `{"message":"${"x".repeat(100_000)}`);
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
