import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { readOne } from "../engine/handlers.ts";
import { requireMessage } from "../engine/message-check.ts";
import { frameOf } from "../engine/message-type.ts";
import { paceStream } from "../services/paced-stream.ts";
import { sampleMessage } from "./sample-message.ts";

/** Of a server stream. */
const sampleItems = 5;
const sampleIntervalMs = 200;

/** Answers a call with values made from the response's type. Only times differ between calls. */
export function sampleReply(call: GrpcCall, { descriptor, pattern }: GrpcMethod): void {
  const request = { decode: (bytes: Uint8Array) => requireMessage(bytes, descriptor.input) };
  call.entry.noted("Sample made from the types: no rule matched");
  const send = (number: number) => call.send(frameOf(sampleMessage(descriptor.output, number)));
  switch (pattern) {
    case "unary":
      readOne(call, request, () => {
        send(1);
        call.finish();
      });
      break;
    case "server stream":
      readOne(call, request, () => paceStream({ call, first: 1, count: sampleItems, intervalMs: sampleIntervalMs, send }));
      break;
    case "client stream":
      call.receive({
        message(bytes) {
          request.decode(bytes);
          call.read();
        },
        halfClose() {
          send(1);
          call.finish();
        },
      });
      break;
    case "bidi stream": {
      let received = 0;
      call.sendHeaders();
      call.receive({
        message(bytes) {
          request.decode(bytes);
          send(++received);
          call.readWhenWritable();
        },
        halfClose: () => call.finish(),
      });
      break;
    }
    default:
      pattern satisfies never;
  }
}
