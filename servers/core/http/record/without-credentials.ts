/**
 * Rows and details for an export, without the values of credentials: those that a name points to, and the same values elsewhere. What is found
 * is added to `found`, so that an exchange is complete when it has passed twice, first through `FoundCredentials.collect`.
 */

import { percentDecoded } from "../../../../contract/percent-decoded.ts";
import type { HeaderList, HttpBody, HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { multipartStart, redactFieldValue, redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { hidden, isCredentialField, maskedValue } from "../../../../contract/traffic/secret-headers.ts";
import { namesSecret } from "../../../../contract/traffic/secret-names.ts";
import { isBinary } from "../../credentials/byte-text.ts";
import type { FoundCredentials } from "../../credentials/found-credentials.ts";
import { isGzipPreview, readingsOf, utf16Preview } from "../../credentials/text-readings.ts";
import { contentOfPacked } from "./packed-content.ts";
import { isRedactable, redactBody } from "./redact-body.ts";

/** `type` is that of the content of which the preview shows the start. */
export const rowWithoutCredentials = (row: TrafficRow, found: FoundCredentials, type: ContentLabel = unlabelled): TrafficRow => ({
  ...row,
  target: targetWithoutCredentials(row.target, found),
  outcome: found.hideIn(row.outcome),
  preview: textWithoutCredentials(row.preview, found, type, true),
  ...(row.reason !== undefined && { reason: found.hideIn(row.reason) }),
});

export const targetWithoutCredentials = (target: string, found: FoundCredentials): string =>
  found.hideIn(redactTarget(target, (value) => found.add(value)));

interface ExportedExchange<Exchange extends HttpExchangeFacts> {
  readonly row: TrafficRow;
  readonly detail: Exchange | null;
}

export function exchangeWithoutCredentials<Exchange extends HttpExchangeFacts>(
  { row, detail }: ExportedExchange<Exchange>,
  found: FoundCredentials,
): ExportedExchange<Exchange> {
  const headers = row.bytesIn > 0 ? detail?.request.headers : detail?.response?.headers;
  return {
    row: rowWithoutCredentials(row, found, headers ? typeOf(headers) : unlabelled),
    detail: detail && { ...detail, ...bothSides(detail, found) },
  };
}

function bothSides({ request, response, aborted }: HttpExchangeFacts, found: FoundCredentials) {
  return {
    request: {
      ...request,
      target: targetWithoutCredentials(request.target, found),
      headers: fieldsWithoutCredentials(request.headers, found),
      trailers: fieldsWithoutCredentials(request.trailers, found),
      body: bodyWithoutCredentials(request.body, found, typeOf(request.headers)),
      // Nobody knows what lines that cannot be read hold.
      ...(request.unparsed && { unparsed: hiddenBody(request.unparsed) }),
    },
    ...(response && {
      response: {
        ...response,
        headers: fieldsWithoutCredentials(response.headers, found),
        body: bodyWithoutCredentials(response.body, found, typeOf(response.headers)),
      },
    }),
    ...(aborted !== undefined && { aborted: found.hideIn(aborted) }),
  };
}

const hiddenBody = (body: HttpBody): HttpBody => ({
  ...body,
  base64: Buffer.from(hidden).toString("base64"),
  hiddenIn: body.hiddenIn ?? Buffer.byteLength(body.base64, "base64"),
});

/** The URLs in Location, Referer and others have query fields too. */
export const fieldsWithoutCredentials = (fields: HeaderList, found: FoundCredentials): HeaderList =>
  fields.map(([name, value]) => {
    if (!isCredentialField(name, value)) return [name, found.hideIn(redactFieldValue(name, value, (part) => found.add(part)))];
    for (const credential of credentialsIn(name, value)) found.add(credential);
    return [name, maskedValue(name, value)];
  });

/** What a header field that carries credentials is made of. */
function credentialsIn(name: string, value: string): readonly string[] {
  if (/^(set-)?cookie2?$/i.test(name)) {
    const pairs = /^set-/i.test(name) ? value.split(";", 1) : value.split(";");
    return pairs.map((pair) => pair.slice(pair.indexOf("=") + 1));
  }
  const [, scheme = "", rest = ""] = /^([\w-]+) +([^ ].*)$/.exec(value) ?? [];
  if (rest === "") return [value];
  if (scheme.toLowerCase() !== "basic") return [value, rest];
  const pair = Buffer.from(rest, "base64").toString("utf8");
  return [rest, pair, pair.slice(pair.indexOf(":") + 1)];
}

/** The sender's content type. */
export interface ContentLabel {
  readonly label: string;
  readonly isEncoded: boolean;
}
const unlabelled: ContentLabel = { label: "", isEncoded: false };

function typeOf(headers: HeaderList): ContentLabel {
  const value = (name: string) => headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";
  return { label: value("content-type"), isEncoded: !/^(?:identity)?$/i.test(value("content-encoding").trim()) };
}

export function bodyWithoutCredentials(body: HttpBody, found: FoundCredentials, type = unlabelled): HttpBody {
  const kept = Buffer.byteLength(body.base64, "base64");
  const base64 = base64WithoutCredentials(body.base64, found, type, body.isPart || kept < body.bytes);
  return base64 === body.base64 ? body : { ...body, base64, hiddenIn: body.hiddenIn ?? kept };
}

/** `isCut`: not all of the content is kept. Returns the same text if nothing is hidden. */
export function base64WithoutCredentials(
  base64: string,
  found: FoundCredentials,
  type = unlabelled,
  isCut: boolean | "perhaps" = false,
): string {
  const bytes = Buffer.from(base64, "base64");
  const shown = bytesWithoutCredentials(bytes, found, type, isCut);
  return shown === bytes ? base64 : shown.toString("base64");
}

/** The same buffer if nothing is hidden. */
function bytesWithoutCredentials(
  bytes: Buffer,
  found: FoundCredentials,
  type: ContentLabel,
  isCut: boolean | "perhaps",
  layersAbove = 0,
): Buffer {
  if (isCredentialPacked(bytes, found, type, layersAbove)) return Buffer.from(hidden);
  for (const { text, isUtf16, bytesOf } of readingsOf(bytes, type.label)) {
    const named = withoutNamed(text, found, type, isCut === true);
    if (!isUtf16) return found.hideInBytes(named === text ? bytes : bytesOf(named), isCut !== false);
    const shown = found.hideIn(named, isCut !== false);
    if (shown !== text) return bytesOf(shown);
  }
  return bytes;
}

/** gzip within gzip, and so on: no client sends more. */
const mostLayers = 3;

/** Whether a packed body has to be hidden: something in it would be, or nobody can tell. */
function isCredentialPacked(bytes: Buffer, found: FoundCredentials, { label }: ContentLabel, layersAbove: number): boolean {
  const packed = contentOfPacked(bytes);
  if (packed === undefined) return false;
  if (packed === "unreadable" || layersAbove === mostLayers) return true;
  const { content, isStart } = packed;
  const isHidden = bytesWithoutCredentials(content, found, { label, isEncoded: false }, true, layersAbove + 1) !== content;
  if (isHidden || !isStart) return isHidden;
  return found.size > 0 || namedFields.test(label) || readingsOf(content).some(({ text }) => !isBinary(text) && mayHaveFields(text, label));
}

/** JSON and forms without the values of secret names, and every text without values that were found. */
export function textWithoutCredentials(text: string, found: FoundCredentials, type = unlabelled, isCut = false): string {
  if (isGzipPreview(text)) return hidden;
  const narrow = utf16Preview(text);
  if (narrow !== undefined) {
    const shown = found.hideIn(withoutNamed(narrow, found, type), isCut);
    if (shown !== narrow) return shown;
  }
  return found.hideIn(withoutNamed(text, found, type), isCut);
}

/** Content types with named fields, and how a name may be escaped in them. */
const namedFields = /json|x-www-form-urlencoded|multipart\/form-data/i;
const escaped = /\\u|%/i;

/** Compressed bodies that may hold a credential, and multipart bodies with a secret name, are hidden completely. */
function withoutNamed(text: string, found: FoundCredentials, { label, isEncoded }: ContentLabel, isCut = false): string {
  if (text === "") return text;
  const isLabelled = namedFields.test(label);
  if (isEncoded) return isLabelled || found.size > 0 ? hidden : text;
  if (isBinary(text) ? !hasSecretField(text) : !namesSecret(text) && !escaped.test(text)) return text;
  return mayHaveFields(text, label) ? redactBody(text, namesSecret, (value) => found.add(value), isCut) : text;
}

const mayHaveFields = (text: string, label: string): boolean => namedFields.test(label) || isRedactable(text) || multipartStart.test(text);

/** Fields of JSON, of forms and of multipart bodies. */
const fieldNames = /"([^"\n]{1,200})"[ \t\r\n]{0,20}:|(?<=^|[?&;#\n])([^=?&;#\s]{1,200})=|^content-disposition:(.{0,1000})/gim;

/** In bytes that are no text a word such as "key" occurs by chance, and so does "%". */
function hasSecretField(text: string): boolean {
  for (const [, inJson, inForm, inPart] of text.matchAll(fieldNames)) {
    const name = inJson ?? inForm ?? inPart ?? "";
    if (inJson?.includes("\\u") || namesSecret(percentDecoded(name) ?? name)) return true;
  }
  return false;
}
