import { type ChannelCredentials, Client, Metadata } from "@grpc/grpc-js";
import { metadataProblem } from "../../../contract/services/grpc.ts";
import type { HeaderList } from "../../../contract/traffic/http.ts";
import { ServiceError } from "../../core/service/service-error.ts";

export interface OwnClientOptions {
  readonly port: number;
  /** Without TLS, or with the installation's certificates. */
  readonly channel: () => Promise<ChannelCredentials>;
}

/** A client of the service over loopback. `name` is its user agent, as the list of calls shows it. */
export const openClient = async ({ port, channel }: OwnClientOptions, name: string): Promise<Client> =>
  new Client(`127.0.0.1:${port}`, await channel(), {
    "grpc.primary_user_agent": `${name}/1.0`,
    // RFC 6066 §3: an address is not a server name.
    "grpc.ssl_target_name_override": "localhost",
    "grpc.use_local_subchannel_pool": 1,
  });

export const asIs = (bytes: Buffer): Buffer => bytes;

/** Values of names that end in "-bin" are base64. Throws a `ServiceError` for metadata that cannot be sent. */
export function metadataOf(pairs: readonly (readonly [string, string])[]): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of pairs) {
    const wrong = metadataProblem(name, value);
    if (wrong) throw new ServiceError("CALL_INVALID", `The metadata ${name} cannot be sent: ${wrong.problem}`, `Change its ${wrong.of}.`);
    metadata.add(name, name.toLowerCase().endsWith("-bin") ? Buffer.from(value, "base64") : value);
  }
  return metadata;
}

export const headerList = (metadata: Metadata): HeaderList =>
  Object.keys(metadata.getMap()).flatMap((name) =>
    metadata.get(name).map((value): [string, string] => [name, typeof value === "string" ? value : value.toString("base64")]),
  );
