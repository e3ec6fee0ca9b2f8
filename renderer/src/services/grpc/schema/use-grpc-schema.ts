import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { useLastGrpcView } from "../use-grpc-view.ts";

export type GrpcSchema = FileRegistry;

export const readSchema = (base64: string): GrpcSchema => createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(base64)));

/**
 * All served types, also while the service is stopped; read again when protocol files change. With the revision of a call, the types that
 * the call began with, if the service still has them.
 */
export function useGrpcSchema(revision?: string): Pick<Answer<GrpcSchema>, "value" | "failure" | "isReading" | "again"> {
  const client = useControl();
  const state = useService("grpc")?.status.state;
  const current = useLastGrpcView("services", (view) => view.revision);
  const earlier = revision === current ? undefined : revision;
  const answer = useAnswer({
    key: earlier === undefined ? ["grpc", "schema"] : ["grpc", "schema", earlier],
    ask: () => client.action(grpcActions, "grpc", "schema", { revision: earlier }),
    // A stopped service has its types, too.
    enabled: state === "running" ? current !== undefined : state === "stopped",
    version: `${state} ${earlier ?? current}`,
    keepsPrevious: false,
  });
  // A call with the new types is not decoded with the old ones until the new ones have arrived.
  const isOther = revision !== undefined && earlier === undefined && answer.value?.revision !== revision;
  const base64 = isOther ? undefined : answer.value?.base64;
  const value = useMemo(() => (base64 === undefined ? undefined : readSchema(base64)), [base64]);
  return { value, failure: answer.failure, isReading: answer.isReading, again: answer.again };
}
