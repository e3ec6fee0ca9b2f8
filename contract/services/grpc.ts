/** Actions and views of the gRPC service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { GrpcPattern, GrpcStatus } from "../traffic/grpc.ts";
import type { HeaderList } from "../traffic/http.ts";
import type { Tone } from "../traffic/row.ts";
import { type GrpcReplyViews, grpcReplyActions } from "./grpc-replies.ts";

/** Codes of faults of the service, like HTTP's 5xx: UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const failures = new Set([2, 4, 13, 14, 15]);

export function toneOfGrpcStatus(code: number): Tone {
  if (code === 0) return "ok";
  if (code === 1) return "aborted";
  return failures.has(code) ? "failed" : "refused";
}

/** As in grpc.health.v1. */
const healthStates = ["SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] as const;
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
  /** The .proto file that defines it. */
  readonly file: string;
  readonly methods: readonly GrpcMethodView[];
}

/** Counts of one method since the service started. */
export interface GrpcMethodCalls {
  /** Methods that are not served share "unknown". */
  readonly path: string;
  readonly begun: number;
  readonly open: number;
  /** Ended with a status other than OK. */
  readonly errors: number;
}

/** The call of the Try tab; there is one at a time. */
interface GrpcTriedCall {
  readonly path: string;
  /** Of the protocol files that were served when it began. */
  readonly revision: string;
  readonly at: number;
  readonly sent: number;
  readonly received: number;
  /** The client has sent its last message. */
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
  /** The serialized message; only the start of a long one. */
  readonly base64: string;
}

/** That the client, or HTTP/2 itself, sets or does not allow. */
const reservedMetadata =
  /^(?:grpc-.*|content-type|te|user-agent|host|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings)$/;

/** Why a client cannot send this metadata. The value of a name that ends in "-bin" is base64. */
export function metadataProblem(name: string, value: string): { readonly of: "name" | "value"; readonly problem: string } | undefined {
  const key = name.toLowerCase();
  if (!/^[0-9a-z_.-]+$/.test(key)) return { of: "name", problem: "Only letters, digits and - _ . are allowed" };
  if (reservedMetadata.test(key)) return { of: "name", problem: "The client sets this field itself" };
  if (key.endsWith("-bin"))
    return /^[\w+/-]*={0,2}$/.test(value) ? undefined : { of: "value", problem: "The value of a name that ends in -bin is base64" };
  if (!/^[ -~]*$/.test(value)) return { of: "value", problem: "A value is ASCII text; that of a name that ends in -bin is base64" };
  return undefined;
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

export const isProtoFile = (name: string): boolean => /\.proto$/i.test(name);
/** The name of a descriptor set or buf image that is set, or dropped, as a single file. */
export const isDescriptorSet = (name: string): boolean => /\.(?:binpb|bin|pb|desc|protoset|fds|json)$/i.test(name);
/** The same within a folder, where files with the other endings may be something else. */
export const isDescriptorSetInFolder = (name: string): boolean => /\.(?:binpb|protoset|desc)$/i.test(name);
/** Files and folders that are not read. */
export const isSkippedInFolder = (name: string): boolean => name.startsWith(".") || name === "node_modules";

/** The user's protocol files: of the setting, or dropped on the page. */
export interface GrpcProtoSource {
  readonly id: string;
  readonly kind: "setting" | "dropped";
  /** Path as it was set, or name of the dropped file or folder. */
  readonly title: string;
  /** Served files. */
  readonly files: number;
  /** Files that an earlier source has, too, and which are served of that one. */
  readonly repeated: number;
  readonly services: readonly string[];
  /** Number of problems, such as files that are not served. */
  readonly problems: number;
}

export interface GrpcProtoProblem {
  /** Id of the source; empty if it is of no single source. */
  readonly source: string;
  readonly file: string;
  /** From 1; absent if the problem is of the whole file. */
  readonly line?: number;
  readonly column?: number;
  readonly problem: string;
}

/** The result of a drop. */
export interface GrpcProtosAdded {
  /** Ids of their sources. */
  readonly sources: readonly string[];
  readonly problems: readonly GrpcProtoProblem[];
}

/** Columns of the same length. Counts are means a second; open calls and latencies are the highest of a step. */
export interface GrpcMetrics {
  readonly stepSeconds: number;
  /** Seconds since the epoch. */
  readonly at: readonly number[];
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly open: readonly number[];
  /** Messages of clients, and of the service. */
  readonly received: readonly number[];
  readonly sent: readonly number[];
  readonly bytesIn: readonly number[];
  readonly bytesOut: readonly number[];
  /** Milliseconds; null where no unary call ended. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

/** `view/grpc`, by name. */
export interface GrpcViews extends SampleViews, GrpcReplyViews {
  /** The served services. `revision` is a hash of the protocol files. */
  readonly services: { readonly services: readonly GrpcServiceView[]; readonly revision: string };
  readonly protos: {
    readonly sources: readonly GrpcProtoSource[];
    /** The first ones. */
    readonly problems: readonly GrpcProtoProblem[];
    readonly moreProblems: number;
    readonly isReading: boolean;
  };
  /** Health by service; "" is the whole server. */
  readonly health: { readonly states: readonly (readonly [service: string, state: HealthState])[] };
  /**
   * Sent once a second while calls begin or end, and once more after that; `at` is the time of the counts, for rates. What has changed did so after `since`,
   * which is absent in the first one of a run.
   */
  readonly calls: { readonly at: number; readonly since?: number; readonly methods: readonly GrpcMethodCalls[] };
  readonly try: GrpcTried;
}

export const grpcActions = {
  /** Watchers see it at once. */
  "health.set": operation<null>()(z.strictObject({ service: z.string().max(1_000), state: z.enum(["SERVING", "NOT_SERVING"]) })),
  /**
   * All served types as a serialized google.protobuf.FileDescriptorSet in base64: those of the revision if they are still kept, otherwise the
   * current ones.
   */
  schema: operation<{ readonly base64: string; readonly revision: string }>()(z.strictObject({ revision: z.string().max(100).optional() })),
  /**
   * An upload of protocol files: sent in pieces, and stored and served at its end. The folder of a path is a source, and imports are relative
   * to it. A file or folder replaces one of the same name that was dropped before.
   */
  "protos.begin": operation<{ readonly upload: number }>()(z.strictObject({})),
  "protos.put": operation<null>()(
    z.strictObject({ upload: z.int(), pieces: z.array(z.strictObject({ name: z.string().max(1_000), base64: z.string() })).max(2_000) }),
  ),
  "protos.end": operation<GrpcProtosAdded>()(z.strictObject({ upload: z.int() })),
  /** Ends an upload; none of its files is kept. */
  "protos.cancel": operation<null>()(z.strictObject({ upload: z.int() })),
  /** Removes a dropped source. */
  "protos.remove": operation<null>()(z.strictObject({ source: z.string().max(1_000) })),
  /** Reads all files again, for network drives that report no changes. */
  "protos.reload": operation<null>()(z.strictObject({})),
  /** Starts a call of the page's own client. */
  "try.start": operation<null>()(grpcTryStart),
  "try.send": operation<null>()(z.strictObject({ json: tryJson })),
  "try.half-close": operation<null>()(z.strictObject({})),
  "try.cancel": operation<null>()(z.strictObject({})),
  /** The newest messages in both directions, newest first. */
  "try.messages": operation<{ readonly messages: readonly GrpcTryMessage[] }>()(
    z.strictObject({ limit: z.int().min(1).max(1_000).default(200) }),
  ),
  /** The metrics since the start, at most of the last hour. */
  metrics: operation<GrpcMetrics>()(z.strictObject({ seconds: z.int().min(10).max(3_600), points: z.int().min(2).max(1_000) })),
  /** Makes a recorded call again, and resolves when it has ended. */
  resend: operation<GrpcResent>()(grpcResend),
  ...sampleActions,
  ...grpcReplyActions,
};
export type GrpcActions = typeof grpcActions;
