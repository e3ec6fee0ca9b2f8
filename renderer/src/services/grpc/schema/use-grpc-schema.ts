import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { useGrpcView } from "../use-grpc-view.ts";

export type GrpcSchema = FileRegistry;

export const readSchema = (base64: string): GrpcSchema => createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(base64)));

/** The types of everything served; asked for again when protocol files change. */
export function useGrpcSchema(): Pick<Answer<GrpcSchema>, "value" | "failure" | "isReading" | "again"> {
  const client = useControl();
  const revision = useGrpcView("services", ({ revision }) => revision);
  const answer = useAnswer({
    key: ["grpc", "schema"],
    ask: () => client.action(grpcActions, "grpc", "schema", {}),
    enabled: revision !== undefined,
    version: revision,
  });
  const base64 = answer.value?.base64;
  const value = useMemo(() => (base64 === undefined ? undefined : readSchema(base64)), [base64]);
  return { value, failure: answer.failure, isReading: answer.isReading, again: answer.again };
}
