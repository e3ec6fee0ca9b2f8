import type { z } from "zod";
import type { Json, pushed } from "../../../contract/services/grpc-replies.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";
import { resultOf } from "../../core/turns/work-connection.ts";
import { packDetail, type StatusDetails, statusDetails } from "../engine/error-details.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import type { OpenCalls } from "../engine/open-calls.ts";
import { pathText, problemAt, readJson } from "./json-source.ts";
import { messageTemplate } from "./message-template.ts";
import { metadataValues } from "./received-messages.ts";

type Pushed = z.output<typeof pushed>;

/** Sends a message, a status or the end into an open call. The method's handler or its rules go on as well. */
export function pushIntoCall(row: number, push: Pushed, openCalls: OpenCalls): null {
  const call = openCalls.find(row);
  if (!call || call.isEnding) throw refused("The call is over", "Choose one that is open.");
  const { method } = call;
  if (!method) throw refused(`${call.head.path} is not served`, "The types of its messages are not known.");
  if (method.service.startsWith("grpc."))
    throw refused(`Nothing can be sent into calls of ${method.service}`, "Choose a call of another service.");
  if (method.pattern !== "server stream" && method.pattern !== "bidi stream") {
    throw refused(`${method.path} answers with one message`, "Choose a call of a method that streams its answers.");
  }
  const step = stepOf(call, method, push);
  call.run(step);
  return null;
}

const refused = (problem: string, hint: string) => new ServiceError("CALL_INVALID", problem, hint);

/** Checks what the user wrote before it changes the call. */
function stepOf(call: GrpcCall, method: GrpcMethod, push: Pushed): () => void {
  switch (push.kind) {
    case "message": {
      // Unread messages are held in memory.
      if (!call.isWritable) throw refused("The client has not read earlier messages yet", "Send again when it has read them.");
      const frame = frameOf(call, method, push.json);
      return () => void call.send(frame);
    }
    case "status": {
      const { code, message, details } = push.status;
      const rich = details.length === 0 || code === 0 ? undefined : detailsOf(method, details);
      return () => {
        if (rich) call.trailers.set("grpc-status-details-bin", rich(code, message));
        call.finish(code, message);
      };
    }
    case "end":
      return () => call.finish();
    default:
      return push satisfies never;
  }
}

function frameOf(call: GrpcCall, { descriptor, pool }: GrpcMethod, text: string): Buffer {
  let misfit: string | undefined;
  const template = messageTemplate({
    type: descriptor.output,
    json: jsonOf(text, "The message"),
    request: descriptor.input,
    registry: pool.registry,
    onMisfit(path, message) {
      misfit ??= path.length === 0 ? message : `${pathText(path)}: ${message}`;
    },
  });
  const notOfType = (why: string) =>
    refused(`The JSON does not fit ${descriptor.output.typeName}: ${why}`, "Correct it; nothing was sent.");
  if (misfit !== undefined) throw notOfType(misfit);
  const metadata = metadataValues(call);
  try {
    return template({ ...nothing, metadata: (name) => metadata(name)[0], index: call.entry.sent, method: call.head.path });
  } catch (error) {
    throw notOfType(errorText(error));
  }
}

const nothing = {
  request: undefined,
  messages: [],
  count: 1,
  mostFields: Number.POSITIVE_INFINITY,
  mostCharacters: Number.POSITIVE_INFINITY,
} as const;

function detailsOf({ pool }: GrpcMethod, texts: readonly string[]): StatusDetails {
  const details = texts.map((text, index) => {
    const json = jsonOf(text, `Detail ${index + 1}`);
    try {
      return packDetail(json as never, pool);
    } catch (error) {
      throw refused(`Detail ${index + 1}: ${errorText(error)}`, "Correct it; nothing was sent.");
    }
  });
  return statusDetails(pool, details);
}

function jsonOf(text: string, what: string): Json {
  const source = resultOf(readJson(text));
  if (!("problems" in source)) return source.value;
  const [problem] = source.problems;
  const { line, column, message } = problemAt(text, problem ?? { offset: 0, message: "it is empty" });
  throw refused(`${what} is not valid JSON: line ${line}, column ${column}: ${message}`, "Correct it; nothing was sent.");
}
