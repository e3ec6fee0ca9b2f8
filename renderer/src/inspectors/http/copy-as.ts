import type { ServiceView } from "../../../../contract/service.ts";
import type { HeaderList, HttpExchangeFacts } from "../../../../contract/traffic/http.ts";
import { hidden, isHidden } from "../../../../contract/traffic/secret-headers.ts";
import { shellQuoted } from "../../ui/copy/copy-text.ts";
import { originOfConnection } from "../../ui/texts/address.ts";
import { fromBase64, toBase64 } from "../../viewer/decode/bytes.ts";
import type { CopyChoice } from "../copy-menu.tsx";
import { notCopied } from "../kind-commands.ts";

/** A request to be written as a command or program. */
export interface Replay {
  readonly method: string;
  /** "http://127.0.0.1:8080", without a slash at its end. */
  readonly origin: string;
  /** Path and query. */
  readonly target: string;
  readonly httpVersion?: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Set if the body is not complete. */
  readonly missingBytes?: number;
  /** Values in the body are hidden. */
  readonly hidesInBody?: boolean;
  /** Of a request that could not be parsed: its bytes. The other fields have what can be read of it. */
  readonly unparsed?: Uint8Array | undefined;
  /** Names of header fields whose credentials were not kept. */
  readonly toFillIn?: readonly string[];
}

export function replayOf({ request, connection }: HttpExchangeFacts, service: ServiceView | undefined): Replay {
  const body = fromBase64(request.body.base64);
  const toFillIn = request.headers.filter(([, value]) => isHidden(value)).map(([name]) => name);
  const headers = request.headers.map(([name, value]): readonly [string, string] => [
    name,
    isHidden(value) ? value.replace(hidden, placeholder) : value,
  ]);
  const origin = originOfConnection(service, connection);
  if (request.unparsed) {
    const unparsed = fromBase64(request.unparsed.base64);
    return { ...request, headers, origin, body, unparsed, missingBytes: request.unparsed.bytes - unparsed.length, toFillIn };
  }
  const { bytes, hiddenIn } = request.body;
  const missingBytes = bytes - (hiddenIn ?? body.length);
  return { ...request, unparsed: undefined, headers, origin, body, missingBytes, hidesInBody: hiddenIn !== undefined, toFillIn };
}

/** In place of a credential that was not kept. */
const placeholder = "TOKEN";

export const copyFormats = ["curl", "javascript", "python", "raw"] as const;
export type CopyFormat = (typeof copyFormats)[number];

export const copyFormatTitles: Readonly<Record<CopyFormat, string>> = {
  curl: "curl",
  javascript: "JavaScript fetch",
  python: "Python requests",
  raw: "Raw HTTP",
};

/** For the menu of an inspector. No program sends what cannot be parsed: its bytes can be copied. */
export const httpCopies = (replay: Replay): readonly CopyChoice[] =>
  copyFormats
    .filter((id) => id === "raw" || replay.unparsed === undefined)
    .map((id) => ({ id, title: copyFormatTitles[id], text: () => copyAs(id, replay) }));

const writers: Readonly<Record<CopyFormat, (replay: Replay) => string>> = {
  curl: asCurl,
  javascript: asJavaScript,
  python: asPython,
  raw: asRaw,
};

/** Throws for a request that could not be parsed, but for its bytes. */
export function copyAs(format: CopyFormat, replay: Replay): string {
  if (!replay.unparsed) return writers[format](replay);
  if (format === "raw") return bodyText(replay.unparsed) ?? `(${replay.unparsed.length} bytes that are not text)`;
  throw notCopied(`${copyFormatTitles[format]} sends valid requests only.`, "Copy it as Raw HTTP.");
}

/** Headers that the client sets itself, from the URL, the body or the connection. */
const ownHeaders = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "keep-alive",
  "expect",
  "upgrade",
  "te",
  "trailer",
]);
export const sentHeaders = (headers: HeaderList) => headers.filter(([name]) => !ownHeaders.has(name.toLowerCase()));
const has = (headers: HeaderList, wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted);

/** Text, or undefined for bytes that do not survive as text in a shell or a string literal. */
export function bodyText(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function notes({ missingBytes, hidesInBody = false, toFillIn = [] }: Replay, comment: string): string {
  const lines = [
    ...(missingBytes ? [`The last ${missingBytes} bytes of the body were not recorded.`] : []),
    ...(hidesInBody ? [`Replace ${hidden}: the recording hides passwords and tokens of the body.`] : []),
    ...(toFillIn.length > 0 ? [`Replace ${placeholder}: the recording does not contain the value of ${toFillIn.join(", ")}.`] : []),
  ];
  return lines.map((line) => `${comment} ${line}\n`).join("");
}

function asCurl(replay: Replay): string {
  const { method, body } = replay;
  const headers = sentHeaders(replay.headers);
  const text = bodyText(body);
  const words: string[] = [];
  const implied = body.length > 0 ? "POST" : "GET";
  if (method === "HEAD") words.push("--head");
  else if (method !== implied) words.push(`-X ${shellQuoted(method)}`);
  // curl reads brackets and braces as ranges, and removes dot segments.
  if (/[[\]{}]/.test(replay.target)) words.push("--globoff");
  if (/(^|\/)\.\.?(\/|$|\?)/.test(replay.target)) words.push("--path-as-is");
  words.push(shellQuoted(replay.origin + replay.target));
  for (const [name, value] of headers) {
    if (name.toLowerCase() === "accept-encoding" && /gzip|deflate|br/.test(value)) words.push("--compressed");
    // An empty value is written with a semicolon; otherwise curl drops the header.
    else words.push(`-H ${shellQuoted(value === "" ? `${name};` : `${name}: ${value}`)}`);
  }
  if (body.length > 0) {
    // curl would send the content type of a form.
    if (!has(headers, "content-type")) words.push("-H 'Content-Type:'");
    // Not -d, which reads a file if the body begins with @.
    words.push(text === undefined ? "--data-binary @-" : `--data-raw ${shellQuoted(text)}`);
  }
  const pipe = body.length > 0 && text === undefined ? `printf %s ${shellQuoted(toBase64(body))} | base64 -d | ` : "";
  return `${notes(replay, "#")}${pipe}curl ${words.join(" \\\n  ")}`;
}

const literal = (text: string) => JSON.stringify(text);

function asJavaScript(replay: Replay): string {
  const headers = sentHeaders(replay.headers);
  const text = bodyText(replay.body);
  const names = headers.map(([name]) => name.toLowerCase());
  const repeated = new Set(names).size < names.length;
  const lines: string[] = [];
  if (replay.method !== "GET") lines.push(`  method: ${literal(replay.method)},`);
  if (headers.length > 0) {
    const pairs = headers.map(([name, value]) =>
      repeated ? `[${literal(name)}, ${literal(value)}]` : `${literal(name)}: ${literal(value)}`,
    );
    lines.push(`  headers: ${repeated ? "[" : "{"}`, ...pairs.map((pair) => `    ${pair},`), `  ${repeated ? "]" : "}"},`);
  }
  if (replay.body.length > 0) {
    const value = text === undefined ? `Uint8Array.from(atob(${literal(toBase64(replay.body))}), (c) => c.charCodeAt(0))` : literal(text);
    lines.push(`  body: ${value},`);
  }
  const url = literal(replay.origin + replay.target);
  const call = lines.length === 0 ? `fetch(${url})` : `fetch(${url}, {\n${lines.join("\n")}\n})`;
  const note =
    replay.body.length > 0 && (replay.method === "GET" || replay.method === "HEAD")
      ? `// fetch refuses a body with ${replay.method}.\n`
      : "";
  return `${notes(replay, "//")}${note}const response = await ${call};\nconsole.log(response.status, await response.text());`;
}

function asPython(replay: Replay): string {
  const headers = joined(sentHeaders(replay.headers));
  const text = bodyText(replay.body);
  const lines = [`    ${literal(replay.method)},`, `    ${literal(replay.origin + replay.target)},`];
  if (headers.length > 0)
    lines.push("    headers={", ...headers.map(([name, value]) => `        ${literal(name)}: ${literal(value)},`), "    },");
  if (replay.body.length > 0) {
    lines.push(`    data=${text === undefined ? `base64.b64decode(${literal(toBase64(replay.body))})` : `${literal(text)}.encode()`},`);
  }
  const imports = replay.body.length > 0 && text === undefined ? "import base64\n\nimport requests" : "import requests";
  const call = `response = requests.request(\n${lines.join("\n")}\n)`;
  return `${notes(replay, "#")}${imports}\n\n${call}\nprint(response.status_code, response.text)`;
}

/** requests takes a dict: a header that was sent twice becomes one, as RFC 9110 §5.3 allows. */
function joined(headers: HeaderList): HeaderList {
  const byName = new Map<string, [string, string]>();
  for (const [name, value] of headers) {
    const known = byName.get(name.toLowerCase());
    if (known) known[1] += `${name.toLowerCase() === "cookie" ? "; " : ", "}${value}`;
    else byName.set(name.toLowerCase(), [name, value]);
  }
  return [...byName.values()];
}

function asRaw(replay: Replay): string {
  const host: HeaderList = has(replay.headers, "host") ? [] : [["Host", new URL(replay.origin).host]];
  const lines = [
    `${replay.method} ${replay.target} HTTP/${replay.httpVersion ?? "1.1"}`,
    ...[...host, ...replay.headers].map(([name, value]) => `${name}: ${value}`),
  ];
  const text = bodyText(replay.body);
  return `${lines.join("\r\n")}\r\n\r\n${text ?? `(${replay.body.length} bytes that are not text)`}`;
}
