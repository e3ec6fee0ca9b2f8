import type { ServiceView } from "../../../../contract/service.ts";
import { type HeaderList, type HttpExchangeFacts, wholeBytes } from "../../../../contract/traffic/http.ts";
import { hidden, isHidden } from "../../../../contract/traffic/secret-headers.ts";
import { cmdQuoted, inBash, isLongArgument, isWindows, powerShellInput, printed, shellNote, shellQuoted } from "../../ui/copy/shells.ts";
import { originOfConnection, pathOfTarget } from "../../ui/texts/address.ts";
import { fromBase64, toBase64 } from "../../viewer/decode/bytes.ts";
import type { CopyChoice } from "../copy-menu.tsx";
import { keepsMore, notCopied } from "../kind-commands.ts";

/** A request to be written as a command or program. */
export interface Replay {
  readonly method: string;
  /** "http://127.0.0.1:8080", without a slash at its end. */
  readonly origin: string;
  /** As in the request line. */
  readonly target: string;
  readonly httpVersion?: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Set if the body is not complete. */
  readonly missingBytes?: number | "unknown";
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
  const { hiddenIn } = request.body;
  const whole = wholeBytes(request);
  const missingBytes = whole === undefined ? "unknown" : whole - (hiddenIn ?? body.length);
  return { ...request, unparsed: undefined, headers, origin, body, missingBytes, hidesInBody: hiddenIn !== undefined, toFillIn };
}

/** Why the body of a recorded request is not whole, and what can be done; undefined where it is. */
export function partOfBody({ body }: HttpExchangeFacts["request"]): { readonly why: string; readonly hint: string } | undefined {
  if ((body.hiddenIn ?? fromBase64(body.base64).length) < body.bytes)
    return { why: "Only the start of its body was recorded.", hint: keepsMore("Recorded body") };
  if (!body.isPart) return undefined;
  const why = `It ended before ${body.bytes > 0 ? "all of its" : "its"} body was read.`;
  return { why, hint: "Copy it as a command, and put in what is missing." };
}

/** In place of a credential that was not kept. */
const placeholder = "TOKEN";

const formats = ["powershell", "cmd", "curl", "javascript", "python", "raw"] as const;
export type CopyFormat = (typeof formats)[number];

/** For the system on which they are pasted, the first one by default. */
export const copyFormats: readonly CopyFormat[] = isWindows
  ? formats
  : formats.filter((format) => format !== "powershell" && format !== "cmd");

export const copyFormatTitles: Readonly<Record<CopyFormat, string>> = {
  powershell: "curl (PowerShell)",
  cmd: "curl (cmd)",
  curl: inBash("curl"),
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
  powershell: asCurlInPowerShell,
  cmd: asCurlInCmd,
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
/** Those of a request to upgrade (RFC 9110 §7.8) too: without them another answer comes. */
const sentWithUpgrade = (headers: HeaderList) =>
  has(headers, "upgrade") ? headers.filter(([name]) => isUpgradeHeader(name) || !ownHeaders.has(name.toLowerCase())) : sentHeaders(headers);
const isUpgradeHeader = (name: string) => /^(connection|upgrade)$/i.test(name);
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

function notes({ missingBytes, hidesInBody = false, toFillIn = [] }: Replay, note: (text: string) => string): string {
  const lines = [
    ...(missingBytes ? [`The last ${missingBytes === "unknown" ? "" : `${missingBytes} `}bytes of the body were not recorded.`] : []),
    ...(hidesInBody ? [`Replace ${hidden}: the recording hides passwords and tokens of the body.`] : []),
    ...(toFillIn.length > 0 ? [`Replace ${placeholder}: the recording does not contain the value of ${toFillIn.join(", ")}.`] : []),
  ];
  return lines.map((line) => `${note(line)}\n`).join("");
}

const commentedBy = (mark: string) => (text: string) => `${mark} ${text}`;

interface CurlOption {
  /** "-H", "--globoff" */
  readonly flag: string;
  /** As files of options have it: "header", "globoff". */
  readonly name: string;
  readonly value?: string;
}

/** Without the body. */
function curlOptions({ method, headers: all, target, origin, body }: Replay): readonly CurlOption[] {
  const headers = sentWithUpgrade(all);
  const options: CurlOption[] = [];
  const flag = (name: string) => options.push({ flag: `--${name}`, name });
  const header = (value: string) => options.push({ flag: "-H", name: "header", value });
  const implied = body.length > 0 ? "POST" : "GET";
  if (method === "HEAD") flag("head");
  else if (method !== implied) options.push({ flag: "-X", name: "request", value: method });
  const isPath = target.startsWith("/") && pathOfTarget(target) !== undefined;
  // Behind an origin it would name another host or port, or be cut.
  if (!isPath) options.push({ flag: "--request-target", name: "request-target", value: target });
  // curl reads brackets and braces as ranges, and removes dot segments.
  else if (/[[\]{}]/.test(target)) flag("globoff");
  if (isPath && /(^|\/)\.\.?(\/|$|\?)/.test(target)) flag("path-as-is");
  // HTTP/2 has no upgrade, and its answer is in the head.
  if (has(all, "upgrade")) for (const name of ["http1.1", "include"]) flag(name);
  options.push({ flag: "", name: "url", value: isPath ? origin + target : `${origin}/` });
  for (const [name, value] of headers) {
    if (name.toLowerCase() === "accept-encoding" && /gzip|deflate|br/.test(value)) flag("compressed");
    // An empty value is written with a semicolon; otherwise curl drops the header.
    else header(value === "" ? `${name};` : `${name}: ${value}`);
  }
  // curl would send the content type of a form.
  if (body.length > 0 && !has(headers, "content-type")) header("Content-Type:");
  return options;
}

const optionWords = (options: readonly CurlOption[], quoted: (text: string) => string): readonly string[] =>
  options.map(({ flag, value }) => [flag, value === undefined ? "" : quoted(value)].filter(Boolean).join(" "));
/** Not --data, which reads a file if the body begins with @. */
const rawData = (value: string): CurlOption => ({ flag: "--data-raw", name: "data-raw", value });

function asCurl(replay: Replay): string {
  const { body } = replay;
  const options = curlOptions(replay);
  const text = bodyText(body);
  const isPiped = text === undefined || isLongArgument(text);
  const sent = body.length > 0 && !isPiped ? [rawData(text)] : [];
  const words = [...optionWords([...options, ...sent], shellQuoted), ...(isPiped ? ["--data-binary @-"] : [])];
  const decoded = text === undefined ? `${printed(toBase64(body))} | base64 -d` : printed(text);
  const pipe = isPiped ? `${decoded} | ` : "";
  return `${notes(replay, shellNote)}${pipe}curl ${words.join(" \\\n  ")}`;
}

/** curl's options and the body, where it is text. */
function textOptions(replay: Replay, shell: string): readonly CurlOption[] {
  const text = bodyText(replay.body);
  if (text === undefined) throw notCopied(`${shell} passes text only, and the body is not text.`, `Copy it as ${copyFormatTitles.python}.`);
  return [...curlOptions(replay), ...(replay.body.length > 0 ? [rawData(text)] : [])];
}

function asCurlInCmd(replay: Replay): string {
  const words = optionWords(textOptions(replay, "cmd"), (text) => {
    const quoted = cmdQuoted(text);
    if (quoted === undefined) throw notCopied("cmd reads ASCII only.", `Copy it as ${copyFormatTitles.powershell}.`);
    return quoted;
  });
  return `${notes(replay, commentedBy("rem"))}curl ${words.join(" ^\n  ")}`;
}

/** Windows PowerShell passes no quotes in arguments: curl reads its options from the standard input (https://curl.se/docs/manpage.html#-K). */
function asCurlInPowerShell(replay: Replay): string {
  const lines = textOptions(replay, "PowerShell").map(({ name, value }) => (value === undefined ? name : `${name} = "${inConfig(value)}"`));
  return `${notes(replay, commentedBy("#"))}${powerShellInput(lines, "curl.exe --config -")}`;
}

const inConfig = (value: string): string => value.replaceAll(/[\\"\n\r\t\v]/g, (character) => configEscapes[character] ?? "");
const configEscapes: Readonly<Record<string, string>> = {
  "\\": String.raw`\\`,
  '"': String.raw`\"`,
  "\n": String.raw`\n`,
  "\r": String.raw`\r`,
  "\t": String.raw`\t`,
  "\v": String.raw`\v`,
};

const literal = (text: string) => JSON.stringify(text);

/** For a program that has no other way to name a target. */
function urlOf({ origin, target }: Replay, program: string): string {
  const path = pathOfTarget(target);
  if (path === undefined) throw notCopied(`${program} sends paths only, and its target is none.`, `Copy it as ${copyFormatTitles.curl}.`);
  return origin + path;
}

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
  const url = literal(urlOf(replay, "fetch"));
  const call = lines.length === 0 ? `fetch(${url})` : `fetch(${url}, {\n${lines.join("\n")}\n})`;
  const note =
    replay.body.length > 0 && (replay.method === "GET" || replay.method === "HEAD")
      ? `// fetch refuses a body with ${replay.method}.\n`
      : "";
  return `${notes(replay, commentedBy("//"))}${note}const response = await ${call};\nconsole.log(response.status, await response.text());`;
}

function asPython(replay: Replay): string {
  const sent = sentWithUpgrade(replay.headers);
  const headers = joined(sent);
  const repeated = headers.map(([name]) => name).filter((name) => sent.filter(([other]) => isSameName(other, name)).length > 1);
  const joins = repeated.length === 0 ? "" : `# requests sends a field once: the values of ${repeated.join(", ")} are joined.\n`;
  const text = bodyText(replay.body);
  const lines = [`    ${literal(replay.method)},`, `    ${literal(urlOf(replay, "requests"))},`];
  if (headers.length > 0)
    lines.push("    headers={", ...headers.map(([name, value]) => `        ${literal(name)}: ${literal(value)},`), "    },");
  if (replay.body.length > 0) {
    lines.push(`    data=${text === undefined ? `base64.b64decode(${literal(toBase64(replay.body))})` : `${literal(text)}.encode()`},`);
  }
  const imports = replay.body.length > 0 && text === undefined ? "import base64\n\nimport requests" : "import requests";
  const call = `response = requests.request(\n${lines.join("\n")}\n)`;
  return `${notes(replay, commentedBy("#"))}${joins}${imports}\n\n${call}\nprint(response.status_code, response.text)`;
}

const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

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
