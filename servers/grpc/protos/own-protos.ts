import { readFile } from "node:fs/promises";
import { assetFile } from "../../core/files/asset-file.ts";
import { compileProtos } from "./compile-protos.ts";
import { createDescriptorPool, type DescriptorPool } from "./descriptor-pool.ts";

/** Backlot's own protocol files in `assets/proto`, by the names under which they are imported. */
const ownFiles = [
  "example.proto",
  "google/rpc/status.proto",
  "google/rpc/error_details.proto",
  "grpc/health/v1/health.proto",
  "grpc/reflection/v1/reflection.proto",
  "grpc/reflection/v1alpha/reflection.proto",
];

export const ownProtoFile = (name: string): string => assetFile("grpc", `proto/${name}`);

export async function loadOwnProtos(): Promise<DescriptorPool> {
  const sources = await Promise.all(ownFiles.map(async (name) => ({ name, text: await readFile(ownProtoFile(name), "utf8") })));
  const { files, errors } = compileProtos({ sources });
  const [error] = errors;
  if (error) throw error;
  return createDescriptorPool(files);
}
