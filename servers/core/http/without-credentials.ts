/** Rows and details for an export, without the values of credentials. */
import type { HeaderList, HttpBody, HttpExchangeFacts } from "../../../contract/traffic/http.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { hidden, isSecretHeader, maskedValue } from "../../../contract/traffic/secret-headers.ts";
import { redactTarget, secretName } from "./http-log-line.ts";
import { isRedactable, redactBody } from "./redact-body.ts";

/** `type` is that of the content of which the preview shows the start. */
export const rowWithoutCredentials = (row: TrafficRow, type: ContentLabel = unlabelled): TrafficRow => ({
  ...row,
  target: redactTarget(row.target),
  preview: textWithoutCredentials(row.preview, type),
});

interface ExportedExchange<Exchange extends HttpExchangeFacts> {
  readonly row: TrafficRow;
  readonly detail: Exchange | null;
}

export function exchangeWithoutCredentials<Exchange extends HttpExchangeFacts>({
  row,
  detail,
}: ExportedExchange<Exchange>): ExportedExchange<Exchange> {
  const headers = row.bytesIn > 0 ? detail?.request.headers : detail?.response?.headers;
  return {
    row: rowWithoutCredentials(row, headers ? typeOf(headers) : unlabelled),
    detail: detail && { ...detail, ...bothSides(detail) },
  };
}

function bothSides({ request, response }: HttpExchangeFacts): Pick<HttpExchangeFacts, "request" | "response"> {
  return {
    request: {
      ...request,
      target: redactTarget(request.target),
      headers: fieldsWithoutCredentials(request.headers),
      trailers: fieldsWithoutCredentials(request.trailers),
      body: bodyWithoutCredentials(request.body, typeOf(request.headers)),
    },
    ...(response && {
      response: {
        ...response,
        headers: fieldsWithoutCredentials(response.headers),
        body: bodyWithoutCredentials(response.body, typeOf(response.headers)),
      },
    }),
  };
}

/** The URLs in Location, Referer and others have query fields too. */
export const fieldsWithoutCredentials = (fields: HeaderList): HeaderList =>
  fields.map(([name, value]) => [name, isSecretHeader(name) ? maskedValue(name, value) : redactTarget(value)]);

/** The sender's content type. */
interface ContentLabel {
  readonly label: string;
  readonly isEncoded: boolean;
}
const unlabelled: ContentLabel = { label: "", isEncoded: false };

function typeOf(headers: HeaderList): ContentLabel {
  const value = (name: string) => headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";
  return { label: value("content-type"), isEncoded: !/^(?:identity)?$/i.test(value("content-encoding").trim()) };
}

export function bodyWithoutCredentials(body: HttpBody, type = unlabelled): HttpBody {
  const base64 = base64WithoutCredentials(body.base64, type);
  return base64 === body.base64 ? body : { ...body, base64, hiddenIn: body.hiddenIn ?? Buffer.byteLength(body.base64, "base64") };
}

/** Returns the same text if nothing is hidden. */
export function base64WithoutCredentials(base64: string, type = unlabelled): string {
  const text = Buffer.from(base64, "base64").toString("utf8");
  const shown = textWithoutCredentials(text, type);
  return shown === text ? base64 : Buffer.from(shown).toString("base64");
}

/** Content types with named fields, and how a name may be escaped in them. */
const namedFields = /json|x-www-form-urlencoded|multipart\/form-data/i;
const escaped = /\\u|%/i;
const multipartStart = /^--\S+\r?\n/;

/** JSON and forms without the values of secret names. Compressed bodies, and multipart bodies with such a name, are hidden completely. */
export function textWithoutCredentials(text: string, { label, isEncoded } = unlabelled): string {
  if (text === "") return text;
  const isLabelled = namedFields.test(label);
  if (isEncoded) return isLabelled ? hidden : text;
  if (!secretName.test(text) && !escaped.test(text)) return text;
  const isRead = isLabelled || isRedactable(text) || multipartStart.test(text);
  return isRead ? redactBody(text, isSecretName) : text;
}

const isSecretName = (name: string) => secretName.test(name);
