import type { Request, Response } from "express";
import { BodyTooLarge, readBody } from "../../core/http/request-body.ts";
import { Refusal } from "./refusal.ts";

/** What a form or JSON body holds, by name; forms have texts only. */
export type Fields = ReadonlyMap<string, unknown>;

const none: Fields = new Map();

/** Throws 400, 413 and 415. Clients are careless with Content-Type: what begins like JSON is read as JSON, and a form called JSON as a form. */
export async function readFields(request: Request, response: Response, limitBytes: number): Promise<Fields> {
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") {
    request.resume();
    throw new Refusal(415, "unsupportedencoding", { headers: { "Accept-Encoding": "identity" } });
  }
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const text = decode(await readBytes(request, response, limitBytes)).trim();
  if (text === "") return none;
  const isForm = /^[\w.[\]%+-]+=\S*$/.test(text);
  if (/^[[{"]/.test(text) || (/[/+]json$/.test(type) && !isForm)) return jsonFields(text);
  if (/[/+]json$/.test(type) || type === "" || type === "application/x-www-form-urlencoded" || type === "text/plain")
    return new Map(new URLSearchParams(text));
  throw new Refusal(415, "unsupportedtype", { headers: { Accept: "application/json, application/x-www-form-urlencoded" } });
}

function readBytes(request: Request, response: Response, limitBytes: number): Promise<Buffer> {
  return readBody(request, response, limitBytes).catch((error: unknown) => {
    throw error instanceof BodyTooLarge ? new Refusal(413, "bodytoolarge") : error;
  });
}

function decode(body: Buffer): string {
  try {
    // It takes away a byte order mark too (RFC 8259 §8.1).
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new Refusal(400, "invalidbody");
  }
}

function jsonFields(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, "invalidjson");
  }
  if (typeof value !== "object" || value === null || (Array.isArray(value) && value.length > 0)) throw new Refusal(400, "invalidbody");
  // An empty list is what PHP makes of no fields at all.
  return new Map(Object.entries(value));
}

/** Empty where it is missing or no text. */
export function textField(fields: Fields, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}
