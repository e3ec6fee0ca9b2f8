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
import { bytesOfText, isBinary, textOfBytes } from "../../credentials/byte-text.ts";
import type { FoundCredentials } from "../../credentials/found-credentials.ts";
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
  const text = textOfBytes(bytes);
  const named = withoutNamed(text, found, type, isCut === true);
  const shown = found.hideInBytes(named === text ? bytes : bytesOfText(named), isCut !== false);
  return shown === bytes ? base64 : shown.toString("base64");
}

/** JSON and forms without the values of secret names, and every text without values that were found. */
export const textWithoutCredentials = (text: string, found: FoundCredentials, type = unlabelled, isCut = false): string =>
  found.hideIn(withoutNamed(text, found, type), isCut);

/** Content types with named fields, and how a name may be escaped in them. */
const namedFields = /json|x-www-form-urlencoded|multipart\/form-data/i;
const escaped = /\\u|%/i;

/** Compressed bodies that may hold a credential, and multipart bodies with a secret name, are hidden completely. */
function withoutNamed(text: string, found: FoundCredentials, { label, isEncoded }: ContentLabel, isCut = false): string {
  if (text === "") return text;
  const isLabelled = namedFields.test(label);
  if (isEncoded) return isLabelled || found.size > 0 ? hidden : text;
  if (isBinary(text) ? !hasSecretField(text) : !namesSecret(text) && !escaped.test(text)) return text;
  const isRead = isLabelled || isRedactable(text) || multipartStart.test(text);
  return isRead ? redactBody(text, namesSecret, (value) => found.add(value), isCut) : text;
}

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
