import { jsonType, send } from "../../core/http/http-answer.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import type { BodyContent, BodyLimits } from "../formats/body-content.ts";
import { readContent, utf8Text } from "../formats/body-content.ts";
import { parseMediaType } from "../formats/media-type.ts";
import type { HttpConfig } from "../http-config.ts";
import { sendJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const echoRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Reference", [
    {
      path: "/api/echo",
      methods: ["POST"],
      summary: "Echoes JSON; describes forms, multipart, text and binary",
      handle: (request, response) => echo(request, response, config),
    },
  ]);

async function echo(request: HttpRequest, response: HttpResponse, limits: BodyLimits): Promise<void> {
  const { content, body } = await readContent(request, response, limits);
  if (content.kind === "json") {
    const parts = [Buffer.from('{"status":"success","received":'), content.json.compact(), Buffer.from("}")];
    return send(response, 200, jsonType, Buffer.concat(parts));
  }
  if (content.kind === "none") return sendJson(response, 200, { status: "success", received: null });
  const described = { contentType: parseMediaType(request.headers["content-type"]).essence, bytes: body.length };
  sendJson(response, 200, { status: "success", ...received(content), ...described });
}

type DescribedContent = Exclude<BodyContent, { readonly kind: "json" | "none" }>;

function received(content: DescribedContent): { readonly received: unknown; readonly encoding?: "base64" } {
  switch (content.kind) {
    case "form":
      return { received: content.fields };
    case "text":
      return { received: content.text };
    case "binary":
      return { received: content.bytes.toString("base64"), encoding: "base64" };
    case "multipart": {
      const files = content.files.map(({ field, filename, contentType, bytes }) => {
        const text = utf8Text(bytes);
        return {
          field,
          filename,
          contentType,
          bytes: bytes.length,
          ...(text === undefined ? { base64: bytes.toString("base64") } : { text }),
        };
      });
      return { received: { fields: content.fields, files } };
    }
    default:
      return content satisfies never;
  }
}
