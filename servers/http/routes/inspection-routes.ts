import { randomUUID } from "node:crypto";
import { waitWithClient } from "../../core/http/connections/client-wait.ts";
import { runForClient, runOnceForClient } from "../../core/http/connections/client-work.ts";
import type { HttpMethod, HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { type BodyContent, type BodyLimits, parseLeniently, type ReadContent, readContentLeniently } from "../formats/body-content.ts";
import { readBody } from "../formats/content-coding.ts";
import { jsonInSteps } from "../formats/json-in-steps.ts";
import { headersOf, originOf, viewRequest, viewRequestWithBody } from "../formats/request-view.ts";
import type { HttpConfig } from "../http-config.ts";
import { textParam } from "./query.ts";
import { sendPrettyJson, sendText } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

/** Routes that show the client what arrived, in httpbin's shapes. */
export function inspectionRoutes(config: HttpConfig & BodyLimits): readonly Route[] {
  const { bodyBytes } = config;

  async function show(
    request: HttpRequest,
    response: HttpResponse,
    { content, body }: ReadContent,
    added: { readonly method?: string } = {},
  ): Promise<void> {
    const shown = await runForClient(request, viewInSteps(request, content, body, added, bodyBytes));
    send(response, 200, jsonType, shown);
  }
  async function showWithBody(request: HttpRequest, response: HttpResponse): Promise<void> {
    await show(request, response, await readContentLeniently(request, response, config));
  }

  async function showAnything(request: HttpRequest, response: HttpResponse): Promise<void> {
    await show(request, response, await readContentLeniently(request, response, config), { method: request.method ?? "" });
  }

  async function showLater(request: HttpRequest, response: HttpResponse): Promise<void> {
    const seconds = Number(textParam(request, "seconds"));
    if (!(seconds >= 0)) throw new HttpRefusal(400, "Invalid delay: seconds are needed");
    // Parsed it is several times as large.
    const body = await readBody(request, response, config.bodyBytes);
    await waitWithClient(response, Math.min(seconds, config.delaySeconds) * 1_000);
    await show(request, response, { body, content: await parseLeniently(request, body, config) });
  }

  const withBody = (method: HttpMethod): Omit<Route, "group"> => ({
    path: `/${method.toLowerCase()}`,
    methods: [method],
    summary: `What a ${method} brought: query, header, body`,
    handle: showWithBody,
  });

  return routeGroup("Inspection", [
    {
      path: "/get",
      methods: ["GET"],
      summary: "What a GET brought: query, header",
      handle: (request, response) => runOnceForClient(request, () => sendPrettyJson(response, viewRequest(request))),
    },
    ...(["POST", "PUT", "PATCH", "DELETE"] as const).map(withBody),
    { path: "/anything{/*rest}", methods: "any", summary: "What any method brought, to any path below", handle: showAnything },
    {
      path: "/headers",
      methods: ["GET"],
      summary: "The request's header fields",
      handle: (request, response) => sendPrettyJson(response, { headers: headersOf(request) }),
    },
    {
      path: "/ip",
      methods: ["GET"],
      summary: "The client's address",
      handle: (request, response) => sendPrettyJson(response, { origin: originOf(request) }),
    },
    {
      path: "/user-agent",
      methods: ["GET"],
      summary: "The client's User-Agent",
      handle: (request, response) => sendPrettyJson(response, { "user-agent": request.headers["user-agent"] ?? null }),
    },
    {
      path: "/uuid",
      methods: ["GET"],
      summary: "A random UUID",
      handle: (_request, response) => sendPrettyJson(response, { uuid: randomUUID() }),
    },
    { path: "/base64/:value", methods: ["GET"], summary: "Decodes base64 or base64url to text", handle: decodeBase64 },
    {
      path: "/delay/:seconds",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"],
      summary: `Like /anything, this many seconds later, at most ${config.delaySeconds}`,
      handle: showLater,
    },
  ]);
}

/** White space that indentation may add, in lengths of the largest body: the deeper the JSON, the more each of its values takes. */
const mostIndentation = 4;

/** As `sendPrettyJson`; JSON that was received stays as it was written. */
function* viewInSteps(
  request: HttpRequest,
  content: BodyContent,
  body: Buffer,
  added: { readonly method?: string },
  bodyBytes: number,
): Generator<void, readonly Buffer[]> {
  const view = yield* viewRequestWithBody(request, content, body, added);
  const pieces = yield* jsonInSteps(view, { isIndented: true, mostIndentation: mostIndentation * bodyBytes });
  return [...pieces, Buffer.from("\n")];
}

function decodeBase64(request: HttpRequest, response: HttpResponse): void {
  const value = textParam(request, "value");
  if (!/^[\w+/-]*={0,2}$/.test(value) || value.replace(/={1,2}$/, "").length % 4 === 1) {
    throw new HttpRefusal(400, "Incorrect Base64 data try: SFRUUEJJTiBpcyBhd2Vzb21l");
  }
  sendText(response, Buffer.from(value, "base64").toString("utf8"));
}
