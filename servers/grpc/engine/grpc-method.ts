import type { DescMethod, Registry } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type GrpcPattern, grpcPatterns } from "../../../contract/traffic/grpc.ts";
import type { GrpcCall } from "./grpc-call.ts";
import { type JsonMessages, jsonMessages } from "./json-messages.ts";

/** A served method. Its types are in the descriptor pool; `begin` is called with each call and may do what it likes with it. */
export interface GrpcMethod {
  /** "/example.Greeter/SayHello" */
  readonly path: string;
  readonly service: string;
  readonly name: string;
  readonly pattern: GrpcPattern;
  readonly requestType: string;
  readonly responseType: string;
  /** Declared without side effects, so that Connect may call it by GET. */
  readonly isSafe: boolean;
  readonly json: JsonMessages;
  /** Of the protocol files that its types are from. */
  readonly revision: string;
  /** What it throws, or rejects with, ends the call. */
  readonly begin: (call: GrpcCall) => void | Promise<void>;
}

/** Methods by path; it may change while calls are open, which go on as they began. */
export interface GrpcMethods {
  find(path: string): GrpcMethod | undefined;
}

/** `registry` has the types that may be within a google.protobuf.Any. */
export function methodOf(described: DescMethod, registry: Registry, revision: string, begin: GrpcMethod["begin"]): GrpcMethod {
  const service = described.parent.typeName;
  return {
    path: `/${service}/${described.name}`,
    service,
    name: described.name,
    pattern: patternOf(described),
    requestType: described.input.typeName,
    responseType: described.output.typeName,
    isSafe: described.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
    json: jsonMessages(described, registry),
    revision,
    begin,
  };
}

export const patternOf = ({ proto }: DescMethod): GrpcPattern =>
  grpcPatterns[(proto.clientStreaming ? 2 : 0) + (proto.serverStreaming ? 1 : 0)] as GrpcPattern;
