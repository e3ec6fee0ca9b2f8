import { waitWithClient } from "../../core/http/connections/client-wait.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { HttpConfig } from "../http-config.ts";
import { decimalOf, textParam } from "./query.ts";
import { sendJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";
import { answerStatus } from "./status-routes.ts";

const serviceStatus = { service: "http-mock", status: "running", version: "1.0.0" };
const sampleData = { id: 1, name: "Test Data", value: 42, active: true };

/** The routes of the reference API, which existing clients use. */
export const referenceRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Reference", [
    {
      path: "/",
      methods: ["GET"],
      summary: "Status of the service",
      handle: (_request, response) => sendJson(response, 200, serviceStatus),
    },
    {
      path: "/api/data",
      methods: ["GET"],
      summary: "A sample record",
      handle: (_request, response) => sendJson(response, 200, sampleData),
    },
    {
      path: "/health",
      methods: ["GET"],
      summary: "Health check",
      handle: (_request, response) => sendJson(response, 200, { status: "ok" }),
    },
    {
      path: "/api/status",
      methods: ["GET"],
      summary: "Status of the service",
      handle: (_request, response) => sendJson(response, 200, serviceStatus),
    },
    { path: "/api/status/:code", methods: ["GET"], summary: "Answers with this status, 200 to 599", handle: answerCode },
    {
      path: "/api/delay/:seconds",
      methods: ["GET"],
      summary: `Answers after this many seconds, 0 to ${config.delaySeconds}, fractions allowed`,
      handle: (request, response) => answerLater(request, response, config.delaySeconds),
    },
  ]);

function answerCode(request: HttpRequest, response: HttpResponse): void {
  const text = textParam(request, "code");
  if (!/^[2-5]\d\d$/.test(text)) throw new HttpRefusal(400, "Invalid status code");
  const code = Number(text);
  answerStatus(response, code, { type: jsonType, body: JSON.stringify({ status: "success", code }) });
}

async function answerLater(request: HttpRequest, response: HttpResponse, longestSeconds: number): Promise<void> {
  const text = textParam(request, "seconds");
  const seconds = decimalOf(text);
  if (seconds === undefined || seconds > longestSeconds) throw new HttpRefusal(400, `Invalid delay: 0 to ${longestSeconds} seconds`);
  await waitWithClient(response, seconds * 1_000);
  sendJson(response, 200, { status: "success", delay: seconds });
}
