import { readFile } from "node:fs/promises";
import { assetFile } from "../../core/files/asset-file.ts";
import { compileProtos, type ProtoSource } from "./compile-protos.ts";
import { createDescriptorPool, type DescriptorPool } from "./descriptor-pool.ts";

/** Backlot's own protocol files in `assets/proto`, by the names under which they are imported. */
const ownFiles = [
  "example.proto",
  "google/rpc/status.proto",
  "google/rpc/error_details.proto",
  "grpc/health/v1/health.proto",
  "grpc/reflection/v1/reflection.proto",
];

export const ownProtoFile = (name: string): string => assetFile("grpc", `proto/${name}`);

const isReflection = ({ name }: ProtoSource) => name.startsWith("grpc/reflection/");

/** The older version of reflection differs in its package only. */
const v1alphaOf = ({ name, text }: ProtoSource): ProtoSource => ({
  name: name.replace("/v1/", "/v1alpha/"),
  text: text.replace("package grpc.reflection.v1;", "package grpc.reflection.v1alpha;"),
});

export async function loadOwnProtos(): Promise<DescriptorPool> {
  const sources = await Promise.all(ownFiles.map(async (name) => ({ name, text: await readFile(ownProtoFile(name), "utf8") })));
  const { files, errors } = compileProtos({ sources: [...sources, ...sources.filter(isReflection).map(v1alphaOf)] });
  const [error] = errors;
  if (error) throw error;
  return createDescriptorPool(files);
}
