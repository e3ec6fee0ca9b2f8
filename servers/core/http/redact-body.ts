/** Replaces a redacted value. */
export const hidden = "•••";

/** Decides by the name and, if needed, by the value; undefined for an object or a list. */
export type IsSecret = (name: string, value?: string) => boolean;

/**
 * A JSON or form body without the values of secret names, also where it was cut in the middle.
 * Anything ambiguous is redacted: it may contain a secret.
 */
export function redactBody(text: string, isSecret: IsSecret): string {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  if (trimmed === "") return text;
  if (trimmed[0] === "{" || trimmed[0] === "[") return redactJson(trimmed, isSecret);
  // A form has neither spaces nor control characters (URL standard, application/x-www-form-urlencoded).
  return /^[^\s=&]+=[^\s]*$/.test(trimmed) ? redactForm(trimmed, isSecret) : hidden;
}

const redactForm = (text: string, isSecret: IsSecret) =>
  text
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      if (equals === -1) return pair === "" ? "" : hidden;
      const name = pair.slice(0, equals);
      return isSecretPair(name, pair.slice(equals + 1), isSecret) ? `${name}=${hidden}` : pair;
    })
    .join("&");

/** Each part of "payload[code]" counts as a name, and a value may itself be JSON: payload={"code":"123456"}. */
function isSecretPair(name: string, value: string, isSecret: IsSecret): boolean {
  try {
    const text = formText(value);
    const names = formText(name).split(/[[\].]+/);
    const isJson = text.trim()[0] === "{" || text.trim()[0] === "[";
    return names.some((part) => isSecret(part, text)) || (isJson && redactJson(text.trim(), isSecret) !== text.trim());
  } catch {
    // A value that cannot be decoded counts as a secret.
    return true;
  }
}

const formText = (text: string) => decodeURIComponent(text.replaceAll("+", " "));

const token = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|(-?[\w.+]+(?:-[\w.+]+)*))/y;

/** Scans tokens without recursion, so that depth costs neither memory nor stack. */
function redactJson(text: string, isSecret: IsSecret): string {
  const open: ("{" | "[")[] = [];
  let expected: "value" | "key" | "colon" | "next" = "value";
  /** Depth at which a redacted object or list began. */
  let hiddenFrom = -1;
  let key: string | undefined;
  let redacted = "";
  token.lastIndex = 0;

  for (;;) {
    // The text was trimmed, so that nothing but tokens is left.
    if (token.lastIndex >= text.length) return redacted;
    const [whole, string, mark, word] = token.exec(text) ?? [];
    if (whole === undefined) return redacted + hidden;
    let shown = whole;
    switch (expected) {
      case "key":
        if (string !== undefined) {
          key = string;
          expected = "colon";
        } else if (mark === "}") expected = close();
        else return redacted + hidden;
        break;
      case "colon":
        if (mark !== ":") return redacted + hidden;
        expected = "value";
        break;
      case "value":
        if (mark === "{" || mark === "[") {
          if (hiddenFrom === -1 && key !== undefined && isSecretMember(key, undefined, isSecret)) {
            hiddenFrom = open.length;
            redacted += `"${hidden}"`;
          }
          open.push(mark);
          expected = mark === "{" ? "key" : "value";
          key = undefined;
        } else if (mark === "]" && open.at(-1) === "[") expected = close();
        else if (mark !== undefined) return redacted + hidden;
        else {
          // null is no secret.
          if (key !== undefined && word !== "null" && isSecretMember(key, whole, isSecret)) shown = `"${hidden}"`;
          key = undefined;
          expected = "next";
        }
        break;
      default:
        if (mark === "," && open.length > 0) expected = open.at(-1) === "{" ? "key" : "value";
        else if ((mark === "}" && open.at(-1) === "{") || (mark === "]" && open.at(-1) === "[")) expected = close();
        else return redacted + hidden;
    }
    if (hiddenFrom === -1) redacted += shown;
    else if (open.length === hiddenFrom) hiddenFrom = -1;
  }

  function close(): "next" {
    open.pop();
    key = undefined;
    return "next";
  }
}

/** Name and value are JSON tokens; what cannot be parsed counts as a secret. */
function isSecretMember(key: string, value: string | undefined, isSecret: IsSecret): boolean {
  try {
    const parsed: unknown = value?.trim().startsWith('"') ? JSON.parse(value) : value?.trim();
    return isSecret(JSON.parse(key) as string, parsed as string | undefined);
  } catch {
    return true;
  }
}
