import type { GrpcPattern } from "../../../contract/traffic/grpc.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";

interface ReadableCall {
  receive(sink: { message(): void; halfClose(): void }): void;
  read(): void;
  readonly work: Pick<WorkConnection, "wait">;
  readonly isEnding: boolean;
  run(step: () => void): void;
  whenOver(listener: () => void): void;
}

/** So long the end of a call waits for its request. */
const requestMs = 1_000;
const streamRequestMs = 20;

/**
 * For a call that ends before its method begins: first reads what the client sends, so that it is recorded. That is the whole request of a
 * method that takes one message, the first message of an unknown method, and what a stream sends at once. A client that sends nothing delays
 * the end only for a moment.
 */
export function endAfterRequest(call: ReadableCall, pattern: GrpcPattern | undefined, end: () => void): void {
  const isStream = pattern === "client stream" || pattern === "bidi stream";
  let messages = 0;
  const endWait = call.work.wait(isStream ? streamRequestMs : requestMs, () => call.isEnding || call.run(end));
  call.whenOver(endWait);
  call.receive({
    message() {
      messages++;
      if (isStream || (pattern && messages === 1)) call.read();
      else end();
    },
    halfClose: end,
  });
}
