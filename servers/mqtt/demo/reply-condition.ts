import type { MqttReplyCondition } from "../../../contract/services/mqtt-reply.ts";

const noJson = Symbol("no JSON");

/** Answers whether a message's payload is what a rule wants; it is parsed once for all rules, and only where one looks into it. */
export function conditionsOf(payload: Buffer): (when: MqttReplyCondition) => boolean {
  let parsed: unknown;
  let isParsed = false;
  const json = () => {
    if (!isParsed) parsed = parseJson(payload);
    isParsed = true;
    return parsed;
  };
  return (when) => {
    switch (when.type) {
      case "any payload":
        return true;
      case "text contains":
        return payload.includes(when.text);
      case "JSON field equals":
        return textOf(fieldOf(json(), when.field)) === when.value;
      default:
        return when satisfies never;
    }
  };
}

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString("utf8"));
  } catch {
    return noJson;
  }
}

function fieldOf(json: unknown, field: string): unknown {
  if (field === "" || json === noJson) return json;
  let value = json;
  for (const name of field.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return noJson;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Undefined where there is nothing. */
function textOf(value: unknown): string | undefined {
  return value === noJson ? undefined : typeof value === "string" ? value : JSON.stringify(value);
}
