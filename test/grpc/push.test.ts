import { expect, it } from "vitest";
import type { ParamsOf } from "../../contract/operation.ts";
import type { GrpcActions } from "../../contract/services/grpc.ts";
import { dataResponse, serverResponse } from "../../servers/grpc/services/example-messages.ts";
import { until } from "../support/until.ts";
import { collect, openStream } from "./calls.ts";
import { startGrpc } from "./harness.ts";
import { startWithRules, streamData } from "./rules.ts";

type Push = ParamsOf<GrpcActions["call.push"]>["push"];

const openRow = async (service: Awaited<ReturnType<typeof startGrpc>>, path: string) =>
  (await until(() => service.rows().find(({ target, tone }) => target === path && tone === "pending"))).id;

it("[GRPC-108] a message, a status with details or the end is pushed into an open call, whoever answers it, and recorded as its part", async () => {
  const service = await startWithRules([{ method: "example.Greeter/StreamData", stream: [{ waitFor: "never" }] }]);
  const push = (row: number, params: Push) => service.act("call.push", { row, push: params });

  const stream = openStream(service.client(), "/example.Greeter/BidirectionalStream");
  const called = collect(stream, serverResponse);
  const row = await openRow(service, "/example.Greeter/BidirectionalStream");
  await push(row, { kind: "message", json: '{ "response": "by hand", "received_sequence": 7, /* now */ "timestamp": "{{now}}" }' });
  await push(row, { kind: "status", status: { code: 8, message: "enough", details: ['{"@type":"RetryInfo","retryDelay":"1s"}'] } });
  const { replies, status } = await called;
  expect(replies).toMatchObject([{ response: "by hand", receivedSequence: 7, timestamp: expect.stringMatching(/Z$/) }]);
  expect(status).toMatchObject({ code: 8, details: "enough" });
  expect(status.metadata.get("grpc-status-details-bin").length).toBe(1);
  await service.ended(({ id }) => id === row);
  expect(service.parts(row)).toMatchObject([{ direction: "sent", kind: "grpc-message" }]);

  const ruled = streamData(service);
  const second = await openRow(service, "/example.Greeter/StreamData");
  await push(second, { kind: "message", json: '{"id":5}' });
  await push(second, { kind: "end" });
  const answered = await ruled;
  expect([answered.replies.map(({ id }) => id), answered.status.code]).toEqual([[5], 0]);
  await until(() => service.waiting().length === 0);
});

it("[GRPC-109] what cannot be pushed is refused in plain words, and the call goes on", async () => {
  const service = await startGrpc();
  const refusal = async (row: number, push: Push) => {
    try {
      await service.act("call.push", { row, push });
      return "sent";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const message = (json: string): Push => ({ kind: "message", json });
  const asIs = (bytes: Buffer) => bytes;
  const client = service.client();
  const watch = client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", asIs, asIs, Buffer.alloc(0)).on("error", () => {});
  openStream(client, "/example.Greeter/ClientStream");
  const stream = openStream(client, "/example.Greeter/BidirectionalStream");
  expect(await refusal(4_711, message("{}"))).toBe("The call is over");
  expect(await refusal(await openRow(service, "/grpc.health.v1.Health/Watch"), message("{}"))).toBe(
    "Nothing can be sent into calls of grpc.health.v1.Health",
  );
  expect(await refusal(await openRow(service, "/example.Greeter/ClientStream"), message("{}"))).toBe(
    "/example.Greeter/ClientStream answers with one message",
  );
  const row = await openRow(service, "/example.Greeter/BidirectionalStream");
  expect(await refusal(row, message('{"response":\n 5 x}'))).toBe(
    "The message is not valid JSON: line 2, column 4: this word is not JSON: a string needs double quotes",
  );
  expect(await refusal(row, message('{"response": 5}'))).toBe(
    "The JSON does not fit example.ServerResponse: response: a string is expected",
  );
  expect(await refusal(row, message('{"answer": 5}'))).toContain('there is no field "answer" in example.ServerResponse');
  expect(await refusal(row, { kind: "status", status: { code: 3, details: ['{"@type":"Nothing"}'] } })).toBe(
    "Detail 1: there is no type Nothing",
  );
  stream.pause();
  const large = message(JSON.stringify({ response: "x".repeat(30_000) }));
  const results: string[] = [];
  for (let count = 0; count < 40 && results.at(-1) !== "The client has not read earlier messages yet"; count++)
    results.push(await refusal(row, large));
  expect(results.at(-1)).toBe("The client has not read earlier messages yet");
  // It is still there, and takes the end.
  expect(await refusal(row, { kind: "end" })).toBe("sent");
  expect(await refusal(row, { kind: "end" })).toBe("The call is over");
  stream.resume();
  watch.cancel();
  expect(dataResponse.typeName).toBe("example.DataResponse");
});
