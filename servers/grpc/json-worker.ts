/** A worker that reads and writes long messages of JSON, so that calls go on meanwhile. */
import { parentPort } from "node:worker_threads";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { errorText } from "../core/service/service-error.ts";
import { type JsonMessages, jsonMessages } from "./engine/json-messages.ts";
import type { JsonTask, JsonTaskResult } from "./engine/json-thread.ts";
import { requireValues } from "./engine/message-values.ts";
import { StatusError, statusName } from "./engine/status.ts";
import { PoolBuilder } from "./protos/descriptor-pool.ts";

type Conversion = Extract<JsonTask, { readonly bytes: Uint8Array }>;

/** By their revision, then by the path of a method. */
const known = new Map<string, ReadonlyMap<string, JsonMessages>>();

function methodsOf(files: readonly Uint8Array[]): ReadonlyMap<string, JsonMessages> {
  const builder = new PoolBuilder();
  for (const bytes of files) builder.add(builder.describe(fromBinary(FileDescriptorProtoSchema, bytes), bytes));
  const { services, registry } = builder.pool();
  return new Map(
    services.flatMap(({ typeName, methods }) => methods.map((method) => [`/${typeName}/${method.name}`, jsonMessages(method, registry)])),
  );
}

function convert({ kind, revision, path, bytes, mostValues }: Conversion): Uint8Array<ArrayBuffer> {
  const method = known.get(revision)?.get(path);
  if (!method) throw new Error(`the types of ${path} are not known`);
  if (kind === "request") requireValues(bytes, "json", mostValues);
  const fields = kind === "request" ? method.requestFields(bytes, mostValues) : method.replyFields(bytes, mostValues);
  if (fields > mostValues) {
    throw new StatusError(
      "RESOURCE_EXHAUSTED",
      `the message has more fields than the limit of ${mostValues}, with those that have their default`,
    );
  }
  return new Uint8Array(kind === "request" ? method.request(bytes) : method.reply(bytes));
}

function failure(error: unknown): Extract<JsonTaskResult, { readonly failed: unknown }>["failed"] {
  if (error instanceof StatusError) return [statusName(error.code) as "INTERNAL", error.message];
  return ["INTERNAL", `its JSON cannot be read: ${errorText(error)}`];
}

function resultOf(task: Conversion): JsonTaskResult {
  try {
    return { id: task.id, bytes: convert(task) };
  } catch (error) {
    return { id: task.id, failed: failure(error) };
  }
}

parentPort?.on("message", (task: JsonTask) => {
  switch (task.kind) {
    case "types":
      known.set(task.revision, methodsOf(task.files));
      break;
    case "forget":
      known.delete(task.revision);
      break;
    default: {
      const result = resultOf(task);
      parentPort?.postMessage(result, "bytes" in result ? [result.bytes.buffer] : []);
    }
  }
});
