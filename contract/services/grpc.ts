/** Actions and views of the gRPC service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import type { GrpcPattern } from "../traffic/grpc.ts";

/** As in grpc.health.v1. */
export const healthStates = ["SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] as const;
export type HealthState = (typeof healthStates)[number];

export interface GrpcMethodView {
  readonly path: string;
  readonly name: string;
  readonly pattern: GrpcPattern;
  readonly requestType: string;
  readonly responseType: string;
}

export interface GrpcServiceView {
  /** "example.Greeter" */
  readonly name: string;
  /** Of the .proto file that defines it. */
  readonly file: string;
  readonly methods: readonly GrpcMethodView[];
}

/** Of one method, since the service started. */
export interface GrpcMethodCalls {
  /** Methods that are not served share "unknown". */
  readonly path: string;
  readonly begun: number;
  readonly open: number;
  /** Ended with another status than OK. */
  readonly errors: number;
}

/** `view/grpc`, by name. */
export interface GrpcViews {
  /** What is served; it changes when protocol files do. */
  readonly services: { readonly services: readonly GrpcServiceView[]; readonly revision: number };
  /** Health by service; "" is the whole server. */
  readonly health: { readonly states: readonly (readonly [service: string, state: HealthState])[] };
  /** Renewed once a second while calls come or end; `at` is the clock for rates. */
  readonly calls: { readonly at: number; readonly methods: readonly GrpcMethodCalls[] };
  readonly sample: { readonly running: boolean };
}

export const grpcActions = {
  /** Watchers see it at once. */
  "health.set": operation<null>()(z.strictObject({ service: z.string().max(1_000), state: z.enum(["SERVING", "NOT_SERVING"]) })),
  /** The types of everything served, as a serialized google.protobuf.FileDescriptorSet in base64. */
  schema: operation<{ readonly base64: string; readonly revision: number }>()(z.strictObject({})),
  /** Makes a few plausible calls a second until it is turned off, so that a new user sees traffic. */
  "sample.start": operation<null>()(z.strictObject({})),
  "sample.stop": operation<null>()(z.strictObject({})),
};
export type GrpcActions = typeof grpcActions;
