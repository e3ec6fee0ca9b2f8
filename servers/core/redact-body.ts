/** Stands where something was hidden. */
export const hidden = "•••";

export type IsSecret = (name: string) => boolean;

/**
 * A JSON or form body without the values whose names are telling, also where it was cut in the middle.
 * Whatever cannot be read for certain is hidden: a secret may be in it.
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
      return formNameParts(name).some(isSecret) || holdsSecret(pair.slice(equals + 1), isSecret) ? `${name}=${hidden}` : pair;
    })
    .join("&");

/** A value that is JSON itself: payload={"code":"123456"}. */
function holdsSecret(value: string, isSecret: IsSecret): boolean {
  try {
    const text = decodeURIComponent(value.replaceAll("+", " ")).trim();
    return (text[0] === "{" || text[0] === "[") && redactJson(text, isSecret) !== text;
  } catch {
    return true;
  }
}

/** "payload[code]" is named by each of its parts; what cannot be decoded counts as a secret's name. */
function formNameParts(name: string): string[] {
  try {
    return decodeURIComponent(name.replaceAll("+", " ")).split(/[[\].]+/);
  } catch {
    return ["password"];
  }
}

const token = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|(-?[\w.+]+(?:-[\w.+]+)*))/y;

/** Walks over the tokens, so that it takes neither memory nor stack for depth. */
function redactJson(text: string, isSecret: IsSecret): string {
  const open: ("{" | "[")[] = [];
  let expected: "value" | "key" | "colon" | "next" = "value";
  /** Of a hidden value that is an object or list: how many were open before it. */
  let hiddenFrom = -1;
  let secret = false;
  let told = "";
  token.lastIndex = 0;

  for (;;) {
    // The text was trimmed, so that nothing but tokens is left.
    if (token.lastIndex >= text.length) return told;
    const [whole, string, mark, word] = token.exec(text) ?? [];
    if (whole === undefined) return told + hidden;
    let shown = whole;
    switch (expected) {
      case "key":
        if (string !== undefined) {
          secret = isSecretKey(string, isSecret);
          expected = "colon";
        } else if (mark === "}") expected = close();
        else return told + hidden;
        break;
      case "colon":
        if (mark !== ":") return told + hidden;
        expected = "value";
        break;
      case "value":
        if (mark === "{" || mark === "[") {
          if (secret && hiddenFrom === -1) {
            hiddenFrom = open.length;
            told += `"${hidden}"`;
          }
          open.push(mark);
          expected = mark === "{" ? "key" : "value";
          secret = false;
        } else if (mark === "]" && open.at(-1) === "[") expected = close();
        else if (mark !== undefined) return told + hidden;
        else {
          // null is nobody's secret.
          if (secret && word !== "null") shown = `"${hidden}"`;
          secret = false;
          expected = "next";
        }
        break;
      default:
        if (mark === "," && open.length > 0) expected = open.at(-1) === "{" ? "key" : "value";
        else if ((mark === "}" && open.at(-1) === "{") || (mark === "]" && open.at(-1) === "[")) expected = close();
        else return told + hidden;
    }
    if (hiddenFrom === -1) told += shown;
    else if (open.length === hiddenFrom) hiddenFrom = -1;
  }

  function close(): "next" {
    open.pop();
    secret = false;
    return "next";
  }
}

function isSecretKey(literal: string, isSecret: IsSecret): boolean {
  try {
    return isSecret(JSON.parse(literal) as string);
  } catch {
    return true;
  }
}
