import { runForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import { Base64Text } from "../formats/base64-text.ts";
import { type BodyContent, type BodyLimits, readContent, utf8Text } from "../formats/body-content.ts";
import { jsonInSteps } from "../formats/json-in-steps.ts";
import { parseMediaType } from "../formats/media-type.ts";
import { sendJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const echoRoutes = (reading: BodyLimits): readonly Route[] =>
  routeGroup("Reference", [
    {
      path: "/api/echo",
      methods: ["POST"],
      summary: "Echoes JSON; describes forms, multipart, text and binary",
      handle: (request, response) => echo(request, response, reading),
    },
  ]);

async function echo(request: HttpRequest, response: HttpResponse, reading: BodyLimits): Promise<void> {
  const { content, body } = await readContent(request, response, reading);
  if (content.kind === "json") {
    const pieces = await runForClient(request, content.json.compact());
    return send(response, 200, jsonType, [Buffer.from('{"status":"success","received":'), ...pieces, Buffer.from("}")]);
  }
  if (content.kind === "none") return sendJson(response, 200, { status: "success", received: null });
  const described = { contentType: parseMediaType(request.headers["content-type"]).essence, bytes: body.length };
  const answer = { status: "success", ...received(content), ...described };
  send(response, 200, jsonType, await runForClient(request, jsonInSteps(answer, { isIndented: false })));
}

type DescribedContent = Exclude<BodyContent, { readonly kind: "json" | "none" }>;

function received(content: DescribedContent): { readonly received: unknown; readonly encoding?: "base64" } {
  switch (content.kind) {
    case "form":
      return { received: content.fields };
    case "text":
      return { received: content.text };
    case "binary":
      return { received: new Base64Text(content.bytes), encoding: "base64" };
    case "multipart": {
      const files = content.files.map(({ field, filename, contentType, bytes }) => {
        const text = utf8Text(bytes);
        return {
          field,
          filename,
          contentType,
          bytes: bytes.length,
          ...(text === undefined ? { base64: new Base64Text(bytes) } : { text }),
        };
      });
      return { received: { fields: content.fields, files } };
    }
    default:
      return content satisfies never;
  }
}
