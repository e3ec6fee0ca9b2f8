import { type GrpcResend, grpcActions } from "../../../../contract/services/grpc.ts";
import type { GrpcCall, GrpcMessagePart } from "../../../../contract/traffic/grpc.ts";
import type { HeaderList } from "../../../../contract/traffic/http.ts";
import type { ControlClient } from "../../control/control-client.ts";
import type { FailureError } from "../../control/failure-error.ts";
import { notCopied, notKept, notWhole, type RowCommands } from "../../inspectors/kind-commands.ts";
import { createHandover } from "../../pages/service/handover.ts";
import { originOf } from "../../ui/texts/address.ts";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { formatTook } from "../../ui/texts/time.ts";
import { fromBase64, toBase64 } from "../../viewer/decode/bytes.ts";
import { type CallLanguage, callLanguages, callLines, requiresClientCertificate } from "./call-lines.ts";
import { loaderObject } from "./schema/loader-object.ts";
import { hasTooManyFields, readMessage, serializedMessage } from "./schema/message-json.ts";
import { type GrpcSchema, readSchema } from "./schema/use-grpc-schema.ts";

/** Header fields that each client makes itself. */
const ofTheClient =
  /^(?::|grpc-|connect-|sec-|x-grpc-web$|x-user-agent$|(?:te|content-type|content-length|content-encoding|user-agent|accept|accept-encoding|accept-language|host|connection|keep-alive|transfer-encoding|upgrade|origin|referer|cache-control|pragma)$)/;

/** The client's metadata. */
export const metadataOfCall = ({ requestHeaders }: Pick<GrpcCall, "requestHeaders">): HeaderList =>
  requestHeaders.filter(([name]) => !ofTheClient.test(name.toLowerCase()));

/** The types that the call began with, if the service still has them. */
const schemaOf = async (client: ControlClient, method: GrpcCall["method"]): Promise<GrpcSchema> =>
  readSchema((await client.action(grpcActions, "grpc", "schema", { revision: method?.revision })).base64);

const pageParts = 1_000;
const mostMessages = 10_000;

/** The messages of the client, each in base64. Throws if not all of them are kept completely. */
export async function requestsOf(
  client: ControlClient,
  { id, codec, method }: Pick<GrpcCall, "id" | "codec" | "method">,
  refusal: (why: string) => FailureError = notWhole,
): Promise<readonly string[]> {
  const messages: string[] = [];
  // Our own clients send protobuf.
  const schema = codec === "json" ? await schemaOf(client, method) : undefined;
  const serialized = (base64: string): string => {
    if (!schema) return base64;
    const bytes = serializedMessage(schema, method?.requestType ?? "", new TextDecoder().decode(fromBase64(base64)));
    if (!bytes) throw refusal(`One of its messages is not JSON of ${method?.requestType ?? "a known type"}.`);
    return toBase64(bytes);
  };
  for (let from = 0, total = 1; from < total; ) {
    const page = await client.call("traffic.parts", { id: "grpc", row: id, from, limit: pageParts });
    if (!page) throw notKept();
    if (page.leftOut > 0) throw refusal("Its first messages are no longer kept.");
    const sent = page.parts.filter((part): part is GrpcMessagePart => part.kind === "grpc-message" && part.direction === "received");
    for (const { base64, bytes } of sent) {
      if (fromBase64(base64).length < bytes)
        throw refusal("Only the start of a message was recorded: “Recorded rest of messages” in Config says how much is kept.");
      messages.push(serialized(base64));
    }
    if (messages.length > mostMessages) throw refusal(`It has more than ${formatCountOf(mostMessages, "message")}.`);
    total = page.total;
    if (page.next <= from) break;
    from = page.next;
  }
  if (messages.length === 0 && (method?.pattern === "unary" || method?.pattern === "server stream"))
    throw refusal("Its message did not come whole, or was refused.");
  return messages;
}

const notCopiedCall = (why: string) => notCopied(why, "Open it in Try, or call again.");

async function copiedCall(language: CallLanguage, call: GrpcCall, origin: string, client: ControlClient): Promise<string> {
  const { method, path, deadlineMs } = call;
  if (!method) throw notCopiedCall("Its method is not served, so the types of its messages are not known.");
  const schema = await schemaOf(client, method);
  const messages = (await requestsOf(client, call, notCopiedCall)).map((base64) => {
    const bytes = fromBase64(base64);
    const json = readMessage(schema, method.requestType, bytes);
    if (json === undefined) {
      const isTooWide = hasTooManyFields(schema, method.requestType, bytes);
      throw notCopiedCall(isTooWide ? "One of its messages has too many fields." : `One of its messages is not a ${method.requestType}.`);
    }
    return { json: JSON.stringify(json), object: loaderObject(schema, method.requestType, bytes) };
  });
  const clientCertificate = requiresClientCertificate(await client.call("config.read", { id: "grpc" }));
  return callLines(language, { origin, clientCertificate, path, ...method, metadata: metadataOfCall(call), deadlineMs, messages });
}

async function sendAgain(client: ControlClient, call: GrpcCall): Promise<string> {
  const { path, deadlineMs } = call;
  const params: GrpcResend = {
    path,
    metadata: metadataOfCall(call).map(([name, value]): [string, string] => [name, value]),
    ...(deadlineMs !== undefined && { deadlineMs: Math.max(1, deadlineMs) }),
    messages: [...(await requestsOf(client, call))],
  };
  const { status, received, tookMs } = await client.action(grpcActions, "grpc", "resend", params);
  return `Called ${path} again: ${status.name}, ${formatCountOf(received, "message")} in ${formatTook(tookMs)}`;
}

/** Recorded calls that were opened in Try. */
export const recordedCalls = createHandover<GrpcCall>();

/** The copies of a call, by title. */
export const callCopies = callLanguages.map(({ value, label }) => ({
  id: value,
  title: label,
  text: (call: GrpcCall, origin: string, client: ControlClient) => copiedCall(value, call, origin, client),
}));

export const grpcRowCommands: RowCommands = {
  "grpc-call": {
    target: "method",
    copies: callCopies.map(({ title, text }) => ({ title, text: (call, service, client) => text(call, originOf(service), client) })),
    resend: { title: "Send again", run: sendAgain },
    openInTry: (call) => recordedCalls.give("grpc", call),
  },
};
