/** Actions and views of the gRPC service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import type { GrpcPattern, GrpcStatus } from "../traffic/grpc.ts";
import type { HeaderList } from "../traffic/http.ts";
import { type GrpcReplyViews, grpcReplyActions } from "./grpc-replies.ts";

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

/** The call of the Try tab; there is one at a time. */
interface GrpcTriedCall {
  readonly path: string;
  readonly at: number;
  readonly sent: number;
  readonly received: number;
  /** The client has said that it sends no more. */
  readonly halfClosed: boolean;
  readonly deadlineMs?: number;
  readonly headers?: HeaderList;
}
export type GrpcTried =
  | { readonly state: "untried" }
  | (GrpcTriedCall & { readonly state: "open" })
  | (GrpcTriedCall & { readonly state: "ended"; readonly status: GrpcStatus; readonly trailers: HeaderList; readonly tookMs: number });

export interface GrpcTryMessage {
  readonly place: number;
  readonly direction: "sent" | "received";
  readonly typeName: string;
  /** Since the call began. */
  readonly atMs: number;
  readonly bytes: number;
  /** The serialized message; of a long one the start. */
  readonly base64: string;
}

const metadataPairs = z.array(z.tuple([z.string().max(1_000), z.string().max(100_000)])).max(100);

const tryJson = z.string().max(8 << 20);
const grpcTryStart = z.strictObject({
  path: z.string().max(2_000),
  /** The first message, as ProtoJSON; methods that take one message need it. */
  json: tryJson.exactOptional(),
  metadata: metadataPairs,
  deadlineMs: z.int().min(1).max(86_400_000).exactOptional(),
});
export type GrpcTryStart = z.output<typeof grpcTryStart>;

const grpcResend = z.strictObject({
  path: z.string().max(2_000),
  /** Values of names that end in "-bin" are base64. */
  metadata: metadataPairs,
  deadlineMs: z.number().min(1).max(86_400_000).exactOptional(),
  /** Serialized, in base64. */
  messages: z.array(z.base64().max(8 << 20)).max(10_000),
});
export type GrpcResend = z.output<typeof grpcResend>;

export interface GrpcResent {
  readonly status: GrpcStatus;
  /** Messages of the service. */
  readonly received: number;
  readonly tookMs: number;
}

/** `view/grpc`, by name. */
export interface GrpcViews extends GrpcReplyViews {
  /** What is served; it changes when protocol files do. */
  readonly services: { readonly services: readonly GrpcServiceView[]; readonly revision: number };
  /** Health by service; "" is the whole server. */
  readonly health: { readonly states: readonly (readonly [service: string, state: HealthState])[] };
  /** Renewed once a second while calls come or end; `at` is the clock for rates. */
  readonly calls: { readonly at: number; readonly methods: readonly GrpcMethodCalls[] };
  readonly try: GrpcTried;
  readonly sample: { readonly running: boolean };
}

export const grpcActions = {
  /** Watchers see it at once. */
  "health.set": operation<null>()(z.strictObject({ service: z.string().max(1_000), state: z.enum(["SERVING", "NOT_SERVING"]) })),
  /** The types of everything served, as a serialized google.protobuf.FileDescriptorSet in base64. */
  schema: operation<{ readonly base64: string; readonly revision: number }>()(z.strictObject({})),
  /** Starts a call of the page's own client. */
  "try.start": operation<null>()(grpcTryStart),
  "try.send": operation<null>()(z.strictObject({ json: tryJson })),
  "try.half-close": operation<null>()(z.strictObject({})),
  "try.cancel": operation<null>()(z.strictObject({})),
  /** The newest messages in both directions, newest first. */
  "try.messages": operation<{ readonly messages: readonly GrpcTryMessage[] }>()(
    z.strictObject({ limit: z.int().min(1).max(1_000).default(200) }),
  ),
  /** Makes a recorded call again, and resolves when it has ended. */
  resend: operation<GrpcResent>()(grpcResend),
  /** Makes a few plausible calls a second until it is turned off, so that a new user sees traffic. */
  "sample.start": operation<null>()(z.strictObject({})),
  "sample.stop": operation<null>()(z.strictObject({})),
  ...grpcReplyActions,
};
export type GrpcActions = typeof grpcActions;
