import { send } from "../../core/http/http-answer.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import type { BodyContent } from "../formats/body-content.ts";
import { readContent, utf8Text } from "../formats/body-content.ts";
import { parseMediaType } from "../formats/media-type.ts";
import type { HttpConfig } from "../http-config.ts";
import { jsonText } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const echoRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Reference", [
    {
      path: "/api/echo",
      methods: ["POST"],
      summary: "Echoes JSON; describes forms, multipart, text and binary",
      handle: (request, response) => echo(request, response, config.bodyBytes),
    },
  ]);

async function echo(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<void> {
  const { content, body } = await readContent(request, response, limitBytes);
  const described =
    content.kind === "json" || content.kind === "none"
      ? {}
      : { contentType: parseMediaType(request.headers["content-type"]).essence, bytes: body.length };
  send(response, 200, "application/json; charset=utf-8", jsonText({ status: "success", ...received(content), ...described }));
}

function received(content: BodyContent): { readonly received: unknown; readonly encoding?: "base64" } {
  switch (content.kind) {
    case "none":
      return { received: null };
    case "json":
      return { received: content.value };
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
