import { percentDecoded } from "../../../../contract/percent-decoded.ts";
import { holdsSecret } from "../../../../contract/traffic/redact-target.ts";
import { hidden } from "../../../../contract/traffic/secret-headers.ts";

/** Decides by the name and, if needed, by the value; undefined for an object or a list. */
export type IsSecret = (name: string, value?: string) => boolean;
/** Called with each value that is hidden, decoded. */
export type OnHidden = (value: string) => void;

/**
 * A body of JSON, of Socket.IO packets or of a form without the values of secret names, also where it was cut in the middle.
 * Anything ambiguous is redacted: it may contain a secret. `isCut`: a string that does not end is the start of one.
 */
export function redactBody(text: string, isSecret: IsSecret, onHidden?: OnHidden, isCut = false): string {
  const trimmed = withoutMargin(text);
  if (trimmed === "") return text;
  const shown = isJson(trimmed)
    ? redactJson(trimmed, isSecret, onHidden, isCut)
    : isPackets(trimmed)
      ? redactPackets(trimmed, isSecret, onHidden, isCut)
      : isForm(trimmed)
        ? redactForm(trimmed, isSecret, onHidden)
        : hidden;
  return shown === trimmed ? text : shown;
}

/** Whether a text is of a kind of which single values are redacted. */
export function isRedactable(text: string): boolean {
  const trimmed = withoutMargin(text);
  return isJson(trimmed) || isPackets(trimmed) || isForm(trimmed);
}

const withoutMargin = (text: string) => text.replace(/^\ufeff/, "").trim();
const isJson = (trimmed: string) => trimmed[0] === "{" || trimmed[0] === "[";
/** A form has neither spaces nor control characters (URL standard, application/x-www-form-urlencoded). */
const isForm = (trimmed: string) => /^[^\s=&]+=[^\s]*$/.test(trimmed);

/** Of a body of long polling (Engine.IO 4, "Payload encoding"). */
const packetSeparator = "\x1e";
/** Each costs some microseconds. */
const mostPackets = 1_000;
/** The types of Engine.IO and Socket.IO, attachments, namespace and number of the acknowledgement: what precedes the JSON of a packet. */
const packetHead = /^(?:\d+(?:-\d*)?(?:\/[^,?%=[{"]*,\d*)?)?(?=[[{])/;
/** Also of packets that are broken: no page and no session description begins like this. */
const isPackets = (trimmed: string) =>
  (trimmed.includes(packetSeparator) && packetStart.test(trimmed)) || packetHead.test(trimmed) || packetLike.test(trimmed);
/** The type of the first packet (Engine.IO 4: 0 to 6, and b); of a sequence of JSON texts the separator (RFC 7464). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separator
const packetStart = /^[0-6b\x1e]/;
const packetLike = /^(?:\d[\s\S]*?|[^\s<=&]*)[[{]\s*["\\]/;
/** A packet without data, such as that of a ping. */
const isBarePacket = (packet: string) => !/[[{"=]/.test(packet);

function redactPackets(text: string, isSecret: IsSecret, onHidden?: OnHidden, isCut = false): string {
  const packets = text.split(packetSeparator, mostPackets + 1);
  if (packets.length > mostPackets) return hidden;
  return packets
    .map((packet, index) => {
      if (isBarePacket(packet)) return packet;
      const head = packetHead.exec(packet)?.[0];
      if (head === undefined) return hidden;
      return head + redactBody(packet.slice(head.length), isSecret, onHidden, isCut && index === packets.length - 1);
    })
    .join(packetSeparator);
}

const redactForm = (text: string, isSecret: IsSecret, onHidden?: OnHidden) =>
  text
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      if (equals === -1) return pair === "" ? "" : hidden;
      const name = pair.slice(0, equals);
      return isSecretPair(name, pair.slice(equals + 1), isSecret, onHidden) ? `${name}=${hidden}` : pair;
    })
    .join("&");

/** Each part of "payload[code]" counts as a name, and a value may itself be JSON or a form: payload={"code":"123456"}. */
function isSecretPair(name: string, value: string, isSecret: IsSecret, onHidden?: OnHidden): boolean {
  const [names, text] = [formText(name), formText(value)];
  // A value that cannot be decoded counts as a secret.
  if (names === undefined || text === undefined) return true;
  const trimmed = text.trim();
  const isNamed = names.split(/[[\].]+/).some((part) => isSecret(part, text));
  if (isNamed) onHidden?.(text);
  return isNamed || (isJson(trimmed) && redactJson(trimmed, isSecret, onHidden) !== trimmed) || holdsSecret(text);
}

const formText = (text: string) => percentDecoded(text.replaceAll("+", " "));

/** Positions of one token; `start` is behind the white space before it. */
interface Token {
  kind: "string" | "mark" | "word" | "none";
  start: number;
  end: number;
}

/** Reads one token into `found`: a string with its quotes, one of `{}[],:`, or a number or literal. "none" is anything else. */
function readToken(text: string, from: number, found: Token): void {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  found.start = at;
  const code = text.charCodeAt(at);
  if (code === quote) {
    const end = stringEnd(text, at + 1);
    found.kind = end === -1 ? "none" : "string";
    found.end = end;
  } else if (isMark(code)) {
    found.kind = "mark";
    found.end = at + 1;
  } else {
    while (isWord(text.charCodeAt(at))) at++;
    found.kind = at > found.start ? "word" : "none";
    found.end = at;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const isSpace = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d);
/** One of `{}[],:`. */
const isMark = (code: number) => code === 0x2c || code === 0x3a || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
/** Letters, digits and `_.+-`. */
const isWord = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0x5f;

/** Behind the closing quote of a string that begins before `from`; -1 where there is none. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= from && text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return -1;
}

/** Scans tokens without recursion, so that depth costs neither memory nor stack. Returns `text` itself where nothing is hidden. */
function redactJson(text: string, isSecret: IsSecret, onHidden?: OnHidden, isCut = false): string {
  const open: ("{" | "[")[] = [];
  let expected: "value" | "key" | "colon" | "next" = "value";
  /** Depth at which a redacted object or list began. */
  let hiddenFrom = -1;
  let key: string | undefined;
  let redacted = "";
  /** Up to here the text is in `redacted`. */
  let copied = 0;
  const found: Token = { kind: "none", start: 0, end: 0 };

  const hide = (start: number, end: number) => {
    redacted += `${text.slice(copied, start)}"${hidden}"`;
    copied = end;
  };
  const report = (start: number, end: number) => onHidden?.(shownValue(text.slice(start, end)));
  const hideValue = (start: number, end: number) => {
    hide(start, end);
    report(start, end);
  };
  const hideRest = (from: number) => redacted + (hiddenFrom === -1 ? text.slice(copied, from) : "") + hidden;

  // The text was trimmed, so that nothing but tokens is left.
  for (let at = 0; at < text.length; at = found.end) {
    readToken(text, at, found);
    const { kind, start, end } = found;
    const mark = kind === "mark" ? text[start] : undefined;
    if (kind === "none") {
      const isNamed = expected === "value" && key !== undefined && isSecretMember(key, undefined, isSecret);
      const isStart = isCut && text[start] === '"' && (expected === "value" || expected === "key") && !isNamed && hiddenFrom === -1;
      return isStart && !holdsSecret(text.slice(start)) ? shownSoFar() : hideRest(at);
    }
    switch (expected) {
      case "key":
        if (kind === "string") {
          key = text.slice(start, end);
          expected = "colon";
        } else if (mark === "}") expected = close();
        else return hideRest(at);
        break;
      case "colon":
        if (mark !== ":") return hideRest(at);
        expected = "value";
        break;
      case "value":
        if (mark === "{" || mark === "[") {
          if (hiddenFrom === -1 && key !== undefined && isSecretMember(key, undefined, isSecret)) {
            hiddenFrom = open.length;
            hide(start, end);
          }
          open.push(mark);
          expected = mark === "{" ? "key" : "value";
          key = undefined;
        } else if (mark === "]" && open.at(-1) === "[") expected = close();
        else if (mark !== undefined) return hideRest(at);
        else {
          // null is no secret.
          if (hiddenFrom === -1 && !isNull(start, end) && isSecretValue(key, text.slice(start, end), isSecret)) hideValue(start, end);
          else if (hiddenFrom !== -1) report(start, end);
          key = undefined;
          expected = "next";
        }
        break;
      default:
        if (mark === "," && open.length > 0) expected = open.at(-1) === "{" ? "key" : "value";
        else if ((mark === "}" && open.at(-1) === "{") || (mark === "]" && open.at(-1) === "[")) expected = close();
        else return hideRest(at);
    }
    if (hiddenFrom !== -1) {
      copied = end;
      if (open.length === hiddenFrom) hiddenFrom = -1;
    }
  }
  return shownSoFar();

  function shownSoFar(): string {
    return copied === 0 ? text : redacted + text.slice(copied);
  }
  function isNull(start: number, end: number): boolean {
    return end - start === 4 && text.startsWith("null", start);
  }
  function close(): "next" {
    open.pop();
    key = undefined;
    return "next";
  }
}

/** Of a member, or of a list where there is no name; a string may itself be JSON, a form or a URL. */
function isSecretValue(key: string | undefined, token: string, isSecret: IsSecret): boolean {
  if (key !== undefined && isSecretMember(key, token, isSecret)) return true;
  return token.startsWith('"') && holdsSecret(stringOf(token) ?? "");
}

/** Name and value are JSON tokens; what cannot be parsed counts as a secret. */
function isSecretMember(key: string, value: string | undefined, isSecret: IsSecret): boolean {
  const name = stringOf(key);
  const text = value?.startsWith('"') ? stringOf(value) : value;
  return name === undefined || (value !== undefined && text === undefined) || isSecret(name, text);
}

const shownValue = (token: string): string => (token.startsWith('"') ? (stringOf(token) ?? token.slice(1, -1)) : token);

/** Of a JSON string with its quotes; undefined where it is not valid. A body may have thousands of those, and an error for each would take too long. */
function stringOf(token: string): string | undefined {
  if (isPlain.test(token)) return token.slice(1, -1);
  return isJsonString(token) ? (JSON.parse(token) as string) : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a JSON string with a control character is not valid (RFC 8259 §7)
const isPlain = /^"[^\\\0-\x1f]*"$/;

/** Of a text between two quotes, the last of which is not escaped (RFC 8259 §7). */
function isJsonString(token: string): boolean {
  for (let at = 1; at < token.length - 1; at++) {
    const code = token.charCodeAt(at);
    if (code < 0x20) return false;
    if (code !== backslash) continue;
    const escaped = token[++at] as string;
    if (escaped === "u" && /^[\da-f]{4}$/i.test(token.slice(at + 1, at + 5))) at += 4;
    else if (escaped === "u" || !'"\\/bfnrt'.includes(escaped)) return false;
  }
  return true;
}
