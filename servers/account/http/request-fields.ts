import type { IncomingMessage } from "node:http";
import { ClientLeft, Refusal } from "./refusal.ts";

/** What a form or JSON body holds, by name; forms have texts only. */
export type Fields = ReadonlyMap<string, unknown>;

/** What is read and thrown away of a body that is too large, so that its sender gets to read the answer. */
const drainedBytes = 8 << 20;
const none: Fields = new Map();

/** Throws 400, 413 and 415. Clients are careless with Content-Type: what begins like JSON is read as JSON. */
export async function readFields(request: IncomingMessage, limitBytes: number): Promise<Fields> {
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") {
    request.resume();
    throw new Refusal(415, "unsupportedencoding", { headers: { "Accept-Encoding": "identity" } });
  }
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const text = decode(await readBody(request, limitBytes)).trim();
  if (text === "") return none;
  if (/^[[{"]/.test(text) || /[/+]json$/.test(type)) return jsonFields(text);
  if (type === "" || type === "application/x-www-form-urlencoded" || type === "text/plain") return new Map(new URLSearchParams(text));
  throw new Refusal(415, "unsupportedtype", { headers: { Accept: "application/json, application/x-www-form-urlencoded" } });
}

function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let received = 0;
    let refused = false;
    function refuse(): void {
      refused = true;
      chunks = [];
      reject(new Refusal(413, "bodytoolarge"));
    }
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (refused) {
        if (received > drainedBytes) request.socket.destroy();
      } else if (received > limitBytes) refuse();
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("close", () => reject(new ClientLeft()));
    request.on("error", () => reject(new ClientLeft()));
    if (Number(request.headers["content-length"] ?? 0) > limitBytes) refuse();
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
