import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type GrpcPattern, grpcPatterns } from "../../../contract/traffic/grpc.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import { type JsonMessages, jsonMessages } from "./json-messages.ts";

/** A served method with its types. A call keeps the method that it began with. */
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
  readonly descriptor: DescMethod;
  /** What is served with it. */
  readonly pool: DescriptorPool;
  /** Of the protocol files that its types are from. */
  readonly revision: string;
}

/** Messages within a google.protobuf.Any are of the types in `pool`. */
export function methodOf({ descriptor: described, pool, revision }: Pick<GrpcMethod, "descriptor" | "pool" | "revision">): GrpcMethod {
  const service = described.parent.typeName;
  return {
    path: `/${service}/${described.name}`,
    service,
    name: described.name,
    pattern: patternOf(described),
    requestType: described.input.typeName,
    responseType: described.output.typeName,
    isSafe: described.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
    json: jsonMessages(described, pool.registry),
    descriptor: described,
    pool,
    revision,
  };
}

export const patternOf = ({ proto }: DescMethod): GrpcPattern =>
  grpcPatterns[(proto.clientStreaming ? 2 : 0) + (proto.serverStreaming ? 1 : 0)] as GrpcPattern;
