import { type ParseError, parse } from "jsonc-parser";
import { z } from "zod";
import { tryMethods } from "../../../../contract/services/http.ts";
import type { HeaderList, HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { isHidden, isSecretHeader } from "../../../../contract/traffic/secret-headers.ts";
import { bodyText, partOfBody, type Replay, sentHeaders } from "../../inspectors/http/copy-as.ts";
import { notForTry } from "../../inspectors/kind-commands.ts";
import { createHandover } from "../../pages/service/handover.ts";
import { targetWithoutCredentials, withoutCredentialText, withoutCredentialValues } from "../../ui/credentials.ts";
import { pathOfTarget } from "../../ui/texts/address.ts";
import { fromBase64 } from "../../viewer/decode/bytes.ts";

export type TryMethod = (typeof tryMethods)[number];

export interface TryRequest {
  readonly method: TryMethod;
  readonly target: string;
  /** Rows of the editor: a row without a name is not sent. */
  readonly headers: HeaderList;
  readonly body: string;
  /** In place of the body: that of a recorded request which is no text, in base64. Not remembered. */
  readonly base64?: string | undefined;
}

/** Schema of the remembered request. */
export const tryRequestSchema: z.ZodType<TryRequest> = z.object({
  method: z.enum(tryMethods),
  target: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
});

export const headersWithoutCredentials = (headers: HeaderList): HeaderList =>
  withoutCredentialValues(headers.map(([name, value]) => [name, isSecretHeader(name) ? "" : value]));

/** The request without values that may be credentials, in headers, query fields and the body. These are never stored. */
export const withoutCredentials = ({ base64: _, ...request }: TryRequest): TryRequest => ({
  ...request,
  target: targetWithoutCredentials(request.target),
  headers: headersWithoutCredentials(request.headers),
  body: withoutCredentialText(request.body),
});

/** The fields as they were recorded; values that the recorder did not keep are empty, to be filled in. */
export const withoutHidden = (headers: HeaderList): [string, string][] =>
  headers.map(([name, value]) => [name, isHidden(value) ? "" : value]);

/** Recorded requests that were opened in Try. */
export const recordedTries = createHandover<TryRequest>();

export const firstRequest: TryRequest = { method: "GET", target: "/api/data", headers: [], body: "" };

/**
 * A recorded request as the form takes it; what the recording hides is empty. Throws if the form cannot represent it. `takesBytes`: the form
 * keeps a body that is no text.
 */
export function tryOfExchange({ request }: HttpExchangeFacts, takesBytes = false): TryRequest {
  if (request.unparsed) throw notForTry("It is no valid request.");
  const method = tryMethods.find((known) => known === request.method);
  if (!method) throw notForTry(`Try does not send ${request.method}.`);
  const target = pathOfTarget(request.target);
  if (target === undefined) throw notForTry("Its target is not a path.");
  const bytes = fromBase64(request.body.base64);
  const part = partOfBody(request);
  if (part && (request.body.isPart || request.body.hiddenIn === undefined)) throw notForTry(part.why, part.hint);
  const headers = withoutHidden(sentHeaders(request.headers));
  const body = bodyText(bytes);
  if (body !== undefined) return { method, target, headers, body };
  if (!takesBytes) throw notForTry("Its body is not text.");
  return { method, target, headers, body: "", base64: request.body.base64 };
}

export const methodOf = (text: string): TryMethod => tryMethods.find((method) => method === text) ?? "GET";

/** The target as it is sent: it begins with a slash, and what may not stand in a request line is percent-encoded (RFC 3986 §2.1). */
export function sentTarget(target: string): string {
  const encoded = target.trim().replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return encoded.startsWith("/") ? encoded : `/${encoded}`;
}

/** The named fields. */
export const sentFields = (headers: HeaderList): [string, string][] =>
  headers.filter(([name]) => name.trim() !== "").map(([name, value]) => [name.trim(), value]);

/** What is sent; a method that takes no body has none. */
export function sentRequest(request: TryRequest) {
  return {
    method: request.method,
    target: sentTarget(request.target),
    headers: sentFields(request.headers),
    body: takesBody(request.method) ? request.body : "",
    ...(request.base64 !== undefined && takesBody(request.method) && { base64: request.base64 }),
  };
}

export const takesBody = (method: TryMethod): boolean => method !== "GET" && method !== "HEAD";

export function replayOfTry(request: TryRequest, origin: string): Replay {
  const { base64, body, ...sent } = sentRequest(request);
  return { ...sent, origin, body: base64 === undefined ? new TextEncoder().encode(body) : fromBase64(base64) };
}

export type JsonCheck = { readonly state: "none" } | { readonly state: "valid" } | { readonly state: "invalid"; readonly problem: string };

/** Checks a body that is meant to be JSON, by its header or by its first character. */
export function checkJson(request: TryRequest): JsonCheck {
  const type = request.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const expectsJson = /[/+]json/i.test(type) || (type === "" && /^\s*[{[]/.test(request.body));
  return expectsJson ? checkJsonText(request.body) : { state: "none" };
}

/** Checks a text that is JSON or empty. */
export function checkJsonText(text: string): JsonCheck {
  if (text.trim() === "") return { state: "none" };
  try {
    JSON.parse(text);
    return { state: "valid" };
  } catch (error) {
    return { state: "invalid", problem: placed(error instanceof Error ? error.message : String(error), text) };
  }
}

/** The engine names the position for some faults only. */
function placed(message: string, text: string): string {
  const [said = ""] = message.split(message.endsWith("is not valid JSON") ? ", " : " in JSON at position", 1);
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const at = /position (\d+)/.exec(message)?.[1] ?? errors[0]?.offset;
  return at === undefined ? said : `${said}, ${placeText(text, Number(at))}`;
}

/** "line 3 column 5" */
export function placeText(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length} column ${(before.at(-1) as string).length + 1}`;
}
