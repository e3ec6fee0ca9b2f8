import type { DescFile } from "@bufbuild/protobuf";
import { clientMessages, type ServiceHandlers } from "../engine/handlers.ts";
import { describedMessage, fewValues } from "../engine/message-type.ts";
import { statusCode } from "../engine/status.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";

interface ReflectionRequest {
  readonly host: string;
  readonly messageRequest:
    | {
        readonly case: "fileByFilename" | "fileContainingSymbol" | "allExtensionNumbersOfType" | "listServices";
        readonly value: string;
      }
    | { readonly case: "fileContainingExtension"; readonly value: { readonly containingType: string; readonly extensionNumber: number } }
    | { readonly case: undefined };
}

type ReflectionAnswer =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: readonly Uint8Array[] } }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: readonly number[] };
    }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: readonly { readonly name: string }[] } }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

interface ReflectionReply {
  readonly validHost: string;
  readonly originalRequest: ReflectionRequest;
  readonly messageResponse: ReflectionAnswer;
}

/** Of a file that a stream has sent. */
const memoryOfSent = 64;

/** The same service under both its names. `served` is called for each request, since it may change. */
export const reflection = (own: DescriptorPool, served: () => DescriptorPool): ServiceHandlers =>
  Object.fromEntries(
    ["v1", "v1alpha"].map((version) => {
      const request = describedMessage<ReflectionRequest>(own.message(`grpc.reflection.${version}.ServerReflectionRequest`), fewValues);
      const reply = describedMessage<ReflectionReply>(own.message(`grpc.reflection.${version}.ServerReflectionResponse`));
      const begin = clientMessages(request, reply, (call, send) => {
        /** A file's imports are sent once on a stream; the requested file always. */
        const sent = new Set<DescFile>();
        return {
          message(asked) {
            const before = sent.size;
            send({ validHost: asked.host, originalRequest: asked, messageResponse: answer(asked, served(), sent) });
            call.held.add(memoryOfSent * (sent.size - before));
          },
          halfClose: () => call.finish(),
        };
      });
      return [`grpc.reflection.${version}.ServerReflection`, { ServerReflectionInfo: begin }];
    }),
  );

function answer({ messageRequest: asked }: ReflectionRequest, pool: DescriptorPool, sent: Set<DescFile>): ReflectionAnswer {
  switch (asked.case) {
    case "fileByFilename":
      return filesAnswer(pool.file(asked.value), pool, sent, `there is no file ${asked.value}`);
    case "fileContainingSymbol":
      return filesAnswer(pool.fileOfSymbol(asked.value.replace(/^\./, "")), pool, sent, `there is no symbol ${asked.value}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const extension = pool.extension(containingType.replace(/^\./, ""), extensionNumber);
      return filesAnswer(extension?.file, pool, sent, `there is no extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = asked.value.replace(/^\./, "");
      const extensionNumber = pool.extensionNumbers(baseTypeName);
      return extensionNumber
        ? { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } }
        : notFound(`there is no message ${asked.value}`);
    }
    case "listServices":
      return { case: "listServicesResponse", value: { service: pool.services.map(({ typeName }) => ({ name: typeName })) } };
    case undefined:
      return { case: "errorResponse", value: { errorCode: statusCode("INVALID_ARGUMENT"), errorMessage: "the request asks for nothing" } };
    default:
      return asked satisfies never;
  }
}

const notFound = (what: string): ReflectionAnswer => ({
  case: "errorResponse",
  value: { errorCode: statusCode("NOT_FOUND"), errorMessage: what.slice(0, 300) },
});

function filesAnswer(asked: DescFile | undefined, pool: DescriptorPool, sent: Set<DescFile>, missing: string): ReflectionAnswer {
  if (!asked) return notFound(missing);
  const files = [asked];
  sent.add(asked);
  for (const file of files) {
    for (const dependency of file.dependencies) {
      if (sent.has(dependency)) continue;
      sent.add(dependency);
      files.push(dependency);
    }
  }
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: files.map((file) => pool.bytes(file)) } };
}
