import type { ServiceView } from "../../../../contract/service.ts";
import type { RtspTransport } from "../../../../contract/services/rtsp.ts";
import { endpointsOf } from "../../ui/texts/address.ts";

/** "rtsp://127.0.0.1:8554" */
export const beforePath = (url: string): string => /^[a-z]+:\/\/[^/]+/.exec(url)?.[0] ?? url;

export const withoutOuterSlashes = (path: string): string => path.replace(/^\/+/, "").replace(/(?<!\/)\/+$/, "");

/** The address of a path; RTSPS has a port of its own. */
export function streamUrl(service: ServiceView | undefined, path: string, transport: RtspTransport = "tcp"): string {
  const scheme = transport === "tls" ? "rtsps" : "rtsp";
  const endpoint = endpointsOf(service).find(({ url }) => url.startsWith(`${scheme}://`))?.url ?? `${scheme}://127.0.0.1:0`;
  return `${beforePath(endpoint)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}
