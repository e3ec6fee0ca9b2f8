import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type GrpcSchema, readSchema } from "../../renderer/src/services/grpc/schema/use-grpc-schema.ts";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";

/** The types of a .proto file as the page gets them. */
export function schemaOf(text: string): GrpcSchema {
  const { files, errors } = compileProtos({ sources: [{ name: "t.proto", text }] });
  if (errors[0]) throw errors[0];
  const set = create(FileDescriptorSetSchema, { file: files.map(({ proto }) => proto) });
  return readSchema(Buffer.from(toBinary(FileDescriptorSetSchema, set)).toString("base64"));
}
