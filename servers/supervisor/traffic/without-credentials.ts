/** Rows and details for an export, without the values of credentials. */
import { isDeepStrictEqual } from "node:util";
import type { Detail } from "../../../contract/traffic/detail.ts";
import type { HeaderList, HttpBody, HttpExchangeFacts } from "../../../contract/traffic/http.ts";
import type { MqttMessage } from "../../../contract/traffic/mqtt.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { isSecretHeader, maskedValue } from "../../../contract/traffic/secret-headers.ts";
import { redactTarget, secretName } from "../../core/http/http-log-line.ts";
import { hidden, isRedactable, redactBody } from "../../core/http/redact-body.ts";

export function rowWithoutCredentials(row: TrafficRow, detail: Detail | null): TrafficRow {
  const preview = textWithoutCredentials(row.preview, row.bytesIn > 0 ? sentType(detail) : answeredType(detail));
  const isMqtt = row.kind === "mqtt-message" || row.kind === "mqtt-event";
  return { ...row, preview, ...(!isMqtt && { target: redactTarget(row.target) }) };
}

export function detailWithoutCredentials(detail: Detail): Detail {
  switch (detail.kind) {
    case "http":
    case "websocket":
      return { ...detail, ...exchangeWithoutCredentials(detail) };
    case "websocket-message":
      return { ...detail, body: bodyWithoutCredentials(detail.body, unlabelled) };
    case "mqtt-message":
      return messageWithoutCredentials(detail);
    case "grpc-call":
      return {
        ...detail,
        requestHeaders: fieldsWithoutCredentials(detail.requestHeaders),
        ...(detail.responseHeaders && { responseHeaders: fieldsWithoutCredentials(detail.responseHeaders) }),
        ...(detail.trailers && { trailers: fieldsWithoutCredentials(detail.trailers) }),
      };
    case "mqtt-event":
      return detail;
    default:
      return detail satisfies never;
  }
}

function exchangeWithoutCredentials({ request, response }: HttpExchangeFacts): Pick<HttpExchangeFacts, "request" | "response"> {
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
const fieldsWithoutCredentials = (fields: HeaderList): HeaderList =>
  fields.map(([name, value]) => [name, isSecretHeader(name) ? maskedValue(name, value) : redactTarget(value)]);

function messageWithoutCredentials(message: MqttMessage): MqttMessage {
  const { packet, ...rest } = message;
  const type = { label: message.properties.contentType ?? "", isEncoded: false };
  const payload = base64WithoutCredentials(message.payload, type);
  const userProperties = message.properties.userProperties?.map(
    ([key, value]) => [key, secretName.test(key) ? hidden : redactTarget(value)] as const,
  );
  const shown = {
    ...rest,
    start: base64WithoutCredentials(message.start, type),
    payload,
    properties: { ...message.properties, ...(userProperties && { userProperties }) },
  };
  // The packet contains the payload and the properties again.
  return packet !== undefined && isDeepStrictEqual(shown, rest) ? message : shown;
}

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
const isExchange = (detail: Detail | null) => detail?.kind === "http" || detail?.kind === "websocket";
const sentType = (detail: Detail | null) => (isExchange(detail) ? typeOf(detail.request.headers) : unlabelled);
const answeredType = (detail: Detail | null) => (isExchange(detail) && detail.response ? typeOf(detail.response.headers) : unlabelled);

function bodyWithoutCredentials(body: HttpBody, type: ContentLabel): HttpBody {
  const base64 = base64WithoutCredentials(body.base64, type);
  return base64 === body.base64 ? body : { ...body, base64, hiddenIn: body.hiddenIn ?? Buffer.byteLength(body.base64, "base64") };
}

/** Returns the same text if nothing is hidden. */
function base64WithoutCredentials(base64: string, type: ContentLabel): string {
  const text = Buffer.from(base64, "base64").toString("utf8");
  const shown = textWithoutCredentials(text, type);
  return shown === text ? base64 : Buffer.from(shown).toString("base64");
}

/** Content types with named fields, and how a name may be escaped in them. */
const namedFields = /json|x-www-form-urlencoded|multipart\/form-data/i;
const escaped = /\\u|%/i;
const multipartStart = /^--\S+\r?\n/;

/** JSON and forms without the values of secret names. Compressed bodies, and multipart bodies with such a name, are hidden completely. */
function textWithoutCredentials(text: string, { label, isEncoded }: ContentLabel): string {
  if (text === "") return text;
  const isLabelled = namedFields.test(label);
  if (isEncoded) return isLabelled ? hidden : text;
  if (!secretName.test(text) && !escaped.test(text)) return text;
  const isRead = isLabelled || isRedactable(text) || multipartStart.test(text);
  return isRead ? redactBody(text, isSecretName) : text;
}

const isSecretName = (name: string) => secretName.test(name);
