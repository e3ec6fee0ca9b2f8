import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { GrpcReplyViews } from "../../contract/services/grpc-replies.ts";
import {
  clientMessage,
  dataRequest,
  dataResponse,
  helloReply,
  helloRequest,
  serverResponse,
  streamItem,
  streamRequest,
} from "../../servers/grpc/services/example-messages.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { callMethod } from "./calls.ts";
import { type GrpcUnderTest, startGrpc } from "./harness.ts";

export interface RulesUnderTest extends GrpcUnderTest {
  readonly file: string;
  /** Writes the file and waits until its rules, or its problems, are shown. */
  rules(text: string | readonly object[]): Promise<GrpcReplyViews["replies"]>;
  replies(): GrpcReplyViews["replies"];
  waiting(): GrpcReplyViews["waitingCalls"]["calls"];
}

const textOf = (rules: string | readonly object[]) => (typeof rules === "string" ? rules : JSON.stringify({ rules }, null, 2));

/** The service with a file of these rules. */
export async function startWithRules(rules: string | readonly object[], config: Record<string, unknown> = {}): Promise<RulesUnderTest> {
  const file = path.join(temporaryDir(), "rules.json");
  writeFileSync(file, textOf(rules));
  const service = await startGrpc({ repliesFile: file, ...config });
  const replies = () => service.views.get("replies") as GrpcReplyViews["replies"];
  await until(replies);
  return {
    ...service,
    file,
    replies,
    waiting: () => service.views.get("waitingCalls")?.calls ?? [],
    async rules(text) {
      const { revision } = replies();
      // At once: between emptying a file and writing it, it is one without rules.
      writeFileSync(`${file}.new`, textOf(text));
      renameSync(`${file}.new`, file);
      return await until(() => replies().revision > revision && replies());
    },
  };
}

type Options = Parameters<typeof callMethod>[5];

export const sayHello = (service: GrpcUnderTest, name: string, options?: Options) =>
  callMethod(service.client(), "/example.Greeter/SayHello", helloRequest, helloReply, [{ name }], options);
export const streamData = (service: GrpcUnderTest, value: { count?: number; prefix?: string } = {}, options?: Options) =>
  callMethod(service.client(), "/example.Greeter/StreamData", dataRequest, dataResponse, [{ count: 1, prefix: "x", ...value }], options);
const messages = (texts: readonly string[]) => texts.map((message, index) => ({ clientId: "t", message, sequence: index + 1 }));
export const clientStream = (service: GrpcUnderTest, texts: readonly string[], options?: Options) =>
  callMethod(service.client(), "/example.Greeter/ClientStream", clientMessage, serverResponse, messages(texts), options);
export const bothWays = (service: GrpcUnderTest, texts: readonly string[], options?: Options) =>
  callMethod(service.client(), "/example.Greeter/BidirectionalStream", clientMessage, serverResponse, messages(texts), options);
export const subscribe = (service: GrpcUnderTest, value: { fromPosition?: number; count?: number } = {}, options?: Options) =>
  callMethod(
    service.client(),
    "/example.StreamService/Subscribe",
    streamRequest,
    streamItem,
    [{ fromPosition: 0, count: 1, rate: 0, payloadBytes: 0, ...value }],
    options,
  );

/** What steps return, and how many there were. */
export function countSteps<Result>(
  steps: Iterator<void, Result>,
  onStep: () => void = () => {},
): { readonly result: Result; readonly count: number } {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next();
    onStep();
    if (done) return { result: value, count };
  }
}
