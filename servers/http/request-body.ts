import type { Request, Response } from "express";
import { BodyTooLarge, hasBody, readBody as readBytes } from "../core/http/request-body.ts";
import { decodeContent } from "./content-coding.ts";
import { HttpProblem } from "./http-problem.ts";

/** The body after its content codings are undone; 413 above the limit, before or after. */
export async function readBody(request: Request, limitBytes: number): Promise<Buffer> {
  const raw = await readBytes(request, request.res as Response, limitBytes).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new HttpProblem(413, `The body is larger than ${limitBytes} bytes`) : error;
  });
  const codings = request.headers["content-encoding"];
  return codings === undefined || !hasBody(request) ? raw : decodeContent(raw, codings, limitBytes);
}
