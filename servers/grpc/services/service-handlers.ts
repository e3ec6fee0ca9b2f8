import type { GrpcMethod } from "../engine/grpc-method.ts";

/** By the full name of a service, then by the name of a method. */
export type ServiceHandlers = Readonly<Record<string, Readonly<Record<string, GrpcMethod["begin"]>>>>;
