import { type DescField, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { getNodeValue, type Node, parseTree } from "jsonc-parser";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/** Why a text, which is JSON, is not a message of its type, and where. */
export interface MessageProblem {
  readonly problem: string;
  readonly offset: number;
}

/** The decoder names the field of a type, not the place in a text: smaller and smaller parts are tried until one is to blame. */
export function messageProblem(schema: GrpcSchema, type: DescMessage, text: string): MessageProblem | undefined {
  const root = parseTree(text);
  return root && problemIn(schema, type, root);
}

function problemIn(schema: GrpcSchema, type: DescMessage, node: Node): MessageProblem | undefined {
  const whole = reasonFor(schema, type, getNodeValue(node));
  if (whole === undefined) return undefined;
  for (const { children: [name, value] = [] } of (node.type === "object" && node.children) || []) {
    if (!name || !value) continue;
    const key = name.value as string;
    const reason = reasonFor(schema, type, { [key]: getNodeValue(value) });
    if (reason === undefined) continue;
    const field = type.fields.find(({ jsonName, name: own }) => jsonName === key || own === key);
    return field
      ? (problemInField(schema, type, field, key, value) ?? { problem: reason, offset: value.offset })
      : { problem: reason, offset: name.offset };
  }
  return { problem: whole, offset: node.offset };
}

/** The parts of a value that are wrong by themselves. */
function problemInField(schema: GrpcSchema, type: DescMessage, field: DescField, key: string, node: Node): MessageProblem | undefined {
  const parts: readonly (readonly [value: unknown, node: Node])[] =
    field.fieldKind === "list" && node.type === "array"
      ? (node.children ?? []).map((item) => [[getNodeValue(item)], item])
      : field.fieldKind === "map" && node.type === "object"
        ? (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
            name && value ? [[{ [name.value]: getNodeValue(value) }, value] as const] : [],
          )
        : [[getNodeValue(node), node]];
  for (const [value, part] of parts) {
    const reason = reasonFor(schema, type, { [key]: value });
    if (reason === undefined) continue;
    return (field.message && part.type === "object" && problemIn(schema, field.message, part)) || { problem: reason, offset: part.offset };
  }
  return undefined;
}

function reasonFor(schema: GrpcSchema, type: DescMessage, value: unknown): string | undefined {
  try {
    fromJson(type, value as JsonValue, { registry: schema });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return reason.replace(/^cannot decode (?:message|field) (\S+) from JSON: /, "$1: ");
  }
}
