import { randomUUID } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import { type FieldPath, parsePath, pathInType } from "./field-path.ts";
import type { FieldSource } from "./message-view.ts";

/** The values that templates use. */
export interface TemplateScope {
  /** Undefined if there is none yet. */
  readonly request: FieldSource | undefined;
  /** Of a client's stream, in their order. */
  readonly messages: readonly FieldSource[];
  metadata(name: string): string | undefined;
  /** Of the rule's matches, this one included. */
  readonly count: number;
  /** Of the messages that the rule has sent in this call before. */
  readonly index: number;
  readonly method: string;
  /** Of a message that is made, with those that have their default. */
  readonly mostFields: number;
  /** Of a header field, a trailer or a status message that is made of values. */
  readonly mostCharacters: number;
}

/** Fills in the placeholders of a text. Undefined if the whole text is a placeholder without a value. */
export type Template = (scope: TemplateScope) => Json | undefined;

const sources = ["request", "messages", "metadata", "count", "index", "now", "nowMs", "uuid", "method"] as const;

/**
 * Parses a text such as "Hello, {{request.name}}". A text that is one placeholder becomes its value, which keeps its type. Undefined for a
 * text without placeholders. Throws for an unknown placeholder.
 */
export function parseTemplate(text: string, request: DescMessage | undefined): Template | undefined {
  if (!text.includes("{{")) return undefined;
  const pieces: (string | Template)[] = [];
  let from = 0;
  for (let open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", from)) {
    const close = text.indexOf("}}", open);
    if (close < 0) throw new Error("a placeholder begins with {{ and ends with }}");
    if (open > from) pieces.push(text.slice(from, open));
    pieces.push(placeholder(text.slice(open + 2, close).trim(), request));
    from = close + 2;
  }
  if (from < text.length) pieces.push(text.slice(from));
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === "function") return only;
  return (scope) => pieces.map((piece) => (typeof piece === "string" ? piece : textOf(piece(scope)))).join("");
}

/** A value within a text: a message or list as JSON, a missing value as "". */
export const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);

function placeholder(text: string, request: DescMessage | undefined): Template {
  // "{{'{{'}}" is two braces.
  const quoted = /^'([^']*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return () => quoted;
  const [name, ...rest] = parsePath(text) ?? [];
  switch (name) {
    case "request": {
      const path = inType(rest, request);
      return ({ request: message }) => message?.at(path);
    }
    case "messages": {
      const [place = "", ...within] = rest;
      if (place === "length" || rest.length === 0)
        return ({ messages }) => (place === "" ? messages.map((message) => message.at([]) as Json) : messages.length);
      if (!/^\d+$/.test(place)) throw new Error(`{{${text}}}: messages[0] is the first message, messages.length how many there are`);
      const path = inType(within, request);
      return ({ messages }) => messages[Number(place)]?.at(path);
    }
    case "metadata": {
      const field = rest.join(".").toLowerCase();
      if (field === "") throw new Error(`{{${text}}}: the name of a metadata field is missing, as in {{metadata.x-user}}`);
      return ({ metadata }) => metadata(field);
    }
    case "count":
    case "index":
    case "method":
      if (rest.length === 0) return (scope) => scope[name];
      break;
    case "now":
      if (rest.length === 0) return () => new Date().toISOString();
      break;
    case "nowMs":
      if (rest.length === 0) return () => Date.now();
      break;
    case "uuid":
      if (rest.length === 0) return () => randomUUID();
      break;
    default:
  }
  throw new Error(`there is no value {{${text.slice(0, 100)}}}; there are ${sources.join(", ")}`);
}

const inType = (path: FieldPath, type: DescMessage | undefined): FieldPath => (type && path.length > 0 ? pathInType(type, path) : path);
