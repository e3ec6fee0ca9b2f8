import { fileURLToPath } from "node:url";

export type DatabasePlace =
  | { readonly kind: "standard" }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string }
  /** Never contains the text itself, which may hold a password. */
  | { readonly kind: "unknown"; readonly problem: string };

const postgresExample = "postgres://user:password@host:5432/database";
const examples = `a file, file:///path, or ${postgresExample}`;

/** The value of EVENTS_DB: empty, a file, a file URL (RFC 8089), or a PostgreSQL URL. */
export function databasePlace(text: string): DatabasePlace {
  const place = placeOf(text);
  // No system has a file of such a name.
  return place.kind === "file" && place.file.includes("\0")
    ? { kind: "unknown", problem: "The name of a file has no NUL character." }
    : place;
}

function placeOf(text: string): DatabasePlace {
  if (text === "") return { kind: "standard" };
  if (text.startsWith(":")) return { kind: "unknown", problem: `This is not a file. Write ${examples}.` };
  // It may have a password, and the value of a file is shown.
  if (/^postgres(?:ql)?\/\//i.test(text)) return { kind: "unknown", problem: `A colon is missing. Write ${postgresExample}.` };
  // One letter is a Windows drive.
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(text)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return { kind: "file", file: text };
    case "postgres":
    case "postgresql":
      return URL.canParse(text) && /^[^:]+:\/\//.test(text)
        ? { kind: "postgres", url: text }
        : {
            kind: "unknown",
            problem: `This is not a valid PostgreSQL address. Write ${postgresExample}.`,
          };
    case "file":
      return fileOf(text);
    default:
      return {
        kind: "unknown",
        problem: `"${scheme}:" is not a supported kind of database. Write ${examples}; a file of that name as ./${scheme}:…`,
      };
  }
}

function fileOf(text: string): DatabasePlace {
  const name = text.slice("file:".length);
  if (name === "" || /[?#]/.test(name)) return { kind: "unknown", problem: "A file: address here is a path alone, without ? and #." };
  try {
    return { kind: "file", file: name.startsWith("/") ? fileURLToPath(text) : decodeURIComponent(name) };
  } catch {
    return {
      kind: "unknown",
      problem: "This is not a file: address of this computer. Write file:///path, with % only before two hex digits.",
    };
  }
}
