import type { Request } from "express";
import { type BodyContent, parseBody } from "./body-content.ts";
import { HttpProblem } from "./http-problem.ts";
import { readBody } from "./request-body.ts";
import { utf8Text } from "./utf8-text.ts";

export interface ReadContent {
  readonly content: BodyContent;
  readonly body: Buffer;
}

/** Reads and parses the body; throws 400, 413 or 415. */
export async function readContent(request: Request, limitBytes: number): Promise<ReadContent> {
  const body = await readBody(request, limitBytes);
  return { body, content: await parseBody(request, body) };
}

/** Like `readContent`, but a body that is not what its type says is shown as text, as httpbin does. */
export async function readContentLeniently(request: Request, limitBytes: number): Promise<ReadContent> {
  const body = await readBody(request, limitBytes);
  try {
    return { body, content: await parseBody(request, body) };
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return { body, content: lenientContent(body) };
  }
}

function lenientContent(body: Buffer): BodyContent {
  const text = utf8Text(body);
  return text === undefined ? { kind: "binary", bytes: body } : { kind: "text", text };
}
