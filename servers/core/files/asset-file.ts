import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceId } from "../../../contract/service.ts";

const ownFolder = path.dirname(fileURLToPath(import.meta.url));

/**
 * A file of the folder `assets` of a service: `assetFile("grpc", "greeter.proto")`. The build copies that folder as it is; its own code
 * is in a folder below `servers` there too.
 */
export const assetFile = (service: ServiceId, name: string, from = ownFolder): string =>
  path.join(serversFolder(from), service, "assets", name);

/** A worker of a service: `workerFile("grpc", "compile-worker")`. The build makes a program of its own of it. */
export const workerFile = (service: ServiceId, name: string): string =>
  path.join(serversFolder(ownFolder), service, `${name}${path.extname(fileURLToPath(import.meta.url))}`);

function serversFolder(from: string): string {
  const folder = `${path.sep}servers${path.sep}`;
  return from.slice(0, `${from}${path.sep}`.lastIndexOf(folder) + folder.length);
}
