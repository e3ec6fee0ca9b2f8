import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { z } from "zod";
import { type GrpcTryStart, grpcActions, metadataProblem } from "../../../../../contract/services/grpc.ts";
import type { GrpcCall } from "../../../../../contract/traffic/grpc.ts";
import { isSecretHeader } from "../../../../../contract/traffic/secret-headers.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { notForTry } from "../../../inspectors/kind-commands.ts";
import { createHandover } from "../../../pages/service/handover.ts";
import { withoutCredentialText, withoutCredentialValues } from "../../../ui/credentials.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { checkJsonText, type JsonCheck, placeText, withoutHidden } from "../../try/try-request.ts";
import { metadataOfCall, requestsOf } from "../recorded-call.ts";
import { readWithDefaults } from "../schema/message-json.ts";
import { messageProblem } from "../schema/message-problem.ts";
import { messageTemplate } from "../schema/message-template.ts";
import { type GrpcSchema, readSchema } from "../schema/use-grpc-schema.ts";
import { isObject } from "./form/form-value.ts";

/** What the form of the Try tab holds. */
export interface TryCall {
  readonly path: string;
  /** ProtoJSON as typed for each method, the one typed last at the end. */
  readonly messages: readonly (readonly [path: string, json: string])[];
  readonly metadata: readonly (readonly [string, string])[];
  /** Seconds as typed; empty for none. */
  readonly deadline: string;
}

export const tryCallSchema: z.ZodType<TryCall> = z.object({
  path: z.string(),
  messages: z.array(z.tuple([z.string(), z.string()])),
  metadata: z.array(z.tuple([z.string(), z.string()])),
  deadline: z.string(),
});

export const firstCall: TryCall = {
  path: "/example.Greeter/SayHello",
  messages: [
    ["/example.Greeter/SayHello", '{\n  "name": "world"\n}'],
    ["/example.Greeter/StreamData", '{\n  "count": 5,\n  "prefix": "item"\n}'],
  ],
  metadata: [],
  deadline: "30",
};

/** A method to call, requested by another tab; absent fields stay as they were typed. */
export interface RequestedTry extends Pick<TryCall, "path"> {
  /** ProtoJSON */
  readonly json?: string;
  readonly metadata?: TryCall["metadata"];
}
export const requestedTries = createHandover<RequestedTry>();

export function withRequested(call: TryCall, { path, json, metadata = call.metadata }: RequestedTry): TryCall {
  const next = { ...call, path, metadata };
  return json === undefined ? next : withMessage(next, json);
}

/** Number of methods whose message is remembered. */
const keptMessages = 20;
/** A longer message is not remembered: the window's storage is small. */
const keptCharacters = 20_000;

/** The message that was typed for the method; undefined if there is none. */
export const messageOf = ({ path, messages }: TryCall): string | undefined => messages.find(([of]) => of === path)?.[1];

export const withMessage = (call: TryCall, json: string): TryCall => ({
  ...call,
  messages: [...call.messages.filter(([path]) => path !== call.path), [call.path, json] as const].slice(-keptMessages),
});

/** The call without credentials, to be remembered. */
export const keptCall = (call: TryCall): TryCall => ({
  ...call,
  messages: call.messages
    .map(([path, json]) => [path, withoutCredentialText(json)] as const)
    .filter(([, json]) => json !== "" && json.length <= keptCharacters),
  metadata: withoutSecretValues(call.metadata),
});

const withoutSecretValues = (metadata: TryCall["metadata"]): TryCall["metadata"] =>
  withoutCredentialValues(metadata.map(([name, value]) => [name, isSecretHeader(name) ? "" : value]));

/** A message to begin with, from its type. */
export function templateText(schema: GrpcSchema | undefined, typeName: string): string {
  const type = schema?.getMessage(typeName);
  return schema && type ? JSON.stringify(messageTemplate(schema, type), null, 2) : "{}";
}

/** Undefined for no deadline, null for an invalid one. */
export function deadlineMsOf({ deadline }: TryCall): number | undefined | null {
  if (deadline.trim() === "") return undefined;
  const ms = Math.round(Number(deadline) * 1_000);
  return ms >= 1 && ms <= 86_400_000 ? ms : null;
}

/** `json` is the first message; undefined opens a stream without one. */
export function startOf(call: TryCall, json: string | undefined): GrpcTryStart {
  const deadlineMs = deadlineMsOf(call);
  return {
    path: call.path,
    metadata: sentMetadata(call),
    ...(json !== undefined && { json }),
    ...(typeof deadlineMs === "number" && { deadlineMs }),
  };
}

/** Rows without a name are not sent. */
export const sentMetadata = ({ metadata }: TryCall): [string, string][] =>
  metadata.filter(([name]) => name.trim() !== "").map(([name, value]) => [name.trim().toLowerCase(), value]);

/** Whether there is metadata that cannot be sent. */
export const hasWrongMetadata = (call: TryCall): boolean =>
  sentMetadata(call).some(([name, value]) => metadataProblem(name, value) !== undefined);

/** An empty text is an empty message. */
export const sentText = (json: string): string => (json.trim() === "" ? "{}" : json);

/** Whether the text is JSON, and fits its type if that is known. */
export function checkMessage(schema: GrpcSchema | undefined, typeName: string, json: string): JsonCheck {
  const check = checkJsonText(json);
  const type = schema?.getMessage(typeName);
  if (check.state !== "valid" || !schema || !type) return check;
  const wrong = messageProblem(schema, type, json);
  return wrong ? { state: "invalid", problem: `${wrong.problem}, ${placeText(json, wrong.offset)}` } : check;
}

/** The message for its form; undefined if the text is not a JSON object. */
export function formValue(json: string): JsonObject | undefined {
  try {
    const value = JSON.parse(sentText(json)) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A recorded call as the form takes it: its first message, and its metadata; what the recording hides is empty. */
export async function takeRecorded(client: ControlClient, call: GrpcCall): Promise<(known: TryCall) => TryCall> {
  const { method, path, deadlineMs } = call;
  if (!method) throw notForTry("Its method is not served.");
  const schema = readSchema((await client.action(grpcActions, "grpc", "schema", {})).base64);
  const first = (await requestsOf(client, call, notForTry))[0];
  const json = first === undefined ? {} : readWithDefaults(schema, method.requestType, fromBase64(first))?.json;
  if (json === undefined) throw notForTry(`Its first message is not a ${method.requestType}.`);
  return (known) =>
    withMessage(
      {
        ...known,
        path,
        metadata: withoutHidden(metadataOfCall(call)),
        deadline: deadlineMs === undefined ? "" : String(Math.round(deadlineMs) / 1_000),
      },
      JSON.stringify(json, null, 2),
    );
}
