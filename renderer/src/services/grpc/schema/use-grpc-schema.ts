import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { useGrpcView } from "../use-grpc-view.ts";

export type GrpcSchema = FileRegistry;

export const readSchema = (base64: string): GrpcSchema => createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(base64)));

/**
 * The types of everything served, also while the service is stopped; asked for again when protocol files change. With the revision of a call they are those that the call
 * began with, if the service still has them.
 */
export function useGrpcSchema(revision?: string): Pick<Answer<GrpcSchema>, "value" | "failure" | "isReading" | "again"> {
  const client = useControl();
  const state = useService("grpc")?.status.state;
  const current = useGrpcView("services", (view) => view.revision);
  const earlier = revision === current ? undefined : revision;
  const answer = useAnswer({
    key: earlier === undefined ? ["grpc", "schema"] : ["grpc", "schema", earlier],
    ask: () => client.action(grpcActions, "grpc", "schema", { revision: earlier }),
    // A service that is stopped has its types, too.
    enabled: state === "running" ? current !== undefined : state === "stopped",
    version: `${state} ${earlier ?? current}`,
    keepsPrevious: false,
  });
  // Until the new types are there, a call that has them is not decoded with the old ones.
  const isOther = revision !== undefined && earlier === undefined && answer.value?.revision !== revision;
  const base64 = isOther ? undefined : answer.value?.base64;
  const value = useMemo(() => (base64 === undefined ? undefined : readSchema(base64)), [base64]);
  return { value, failure: answer.failure, isReading: answer.isReading, again: answer.again };
}
