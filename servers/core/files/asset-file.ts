import path from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceId } from "../../../contract/service.ts";

const ownFolder = path.dirname(fileURLToPath(import.meta.url));

/**
 * A file of the folder `assets` of a service: `assetFile("grpc", "greeter.proto")`. The build copies that folder as it is; its own code
 * is in a folder below `servers` there too.
 */
export function assetFile(service: ServiceId, name: string, from = ownFolder): string {
  const folder = `${path.sep}servers${path.sep}`;
  return path.join(from.slice(0, `${from}${path.sep}`.lastIndexOf(folder) + folder.length), service, "assets", name);
}
