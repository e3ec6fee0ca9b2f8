import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import type { HttpConfig } from "../http-config.ts";
import { readBody } from "../request-body.ts";
import { type Route, routeGroup } from "../route.ts";

export const trailerRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Answers", [
    {
      path: "/trailers",
      methods: ["GET", "POST", "PUT"],
      summary: "Tells the trailer fields that came and sends some of its own",
      handle: (request, response) => sendTrailers(request, response, config.bodyBytes),
    },
  ]);

async function sendTrailers(request: Request, response: Response, limitBytes: number): Promise<void> {
  const body = await readBody(request, limitBytes);
  const told = `${JSON.stringify({ trailers: request.trailers, announced: request.headers.trailer ?? null, bytes: body.length }, null, 2)}\n`;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  // HTTP/1.0 knows no chunks, and so no trailers.
  if (request.httpVersion !== "1.0") {
    response.setHeader("Trailer", "X-Body-Bytes, X-Body-SHA256");
    response.addTrailers({ "X-Body-Bytes": String(body.length), "X-Body-SHA256": createHash("sha256").update(body).digest("hex") });
  }
  response.write(told);
  response.end();
}
