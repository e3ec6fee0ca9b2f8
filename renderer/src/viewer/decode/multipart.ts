/** multipart/form-data, RFC 7578; only for showing, so a broken part ends the list instead of failing. */

export interface Part {
  readonly name: string;
  readonly filename?: string;
  readonly contentType?: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The body was cut before this part ended. */
  readonly cut: boolean;
}

/** RFC 2046 §5.1.1 allows 70; searching for a very long one takes time that grows with the product of both lengths. */
const boundaryCharacters = 200;
const headCharacters = 8_192;
/** Further parts are left out. */
const mostParts = 10_000;

export function multipartParts(bytes: Uint8Array<ArrayBuffer>, contentType: string): Part[] {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const name = boundary?.[1] ?? boundary?.[2];
  if (!name || name.length > boundaryCharacters) return [];
  // Latin-1 has one character per byte, so offsets are those of the bytes.
  const text = latin1(bytes);
  const delimiter = `--${name}`;
  const parts: Part[] = [];
  let at = text.startsWith(delimiter) ? 0 : text.indexOf(`\r\n${delimiter}`) + 2;
  while (at >= 0 && parts.length < mostParts && text.startsWith(delimiter, at)) {
    const headStart = at + delimiter.length;
    if (text.startsWith("--", headStart)) break;
    const headEnd = text.indexOf("\r\n\r\n", headStart);
    if (headEnd < 0) break;
    const end = text.indexOf(`\r\n${delimiter}`, headEnd + 2);
    const bodyEnd = end < 0 ? bytes.length : end;
    parts.push({
      ...partHead(text.slice(headStart, Math.min(headEnd, headStart + headCharacters))),
      bytes: bytes.subarray(headEnd + 4, Math.max(bodyEnd, headEnd + 4)),
      cut: end < 0,
    });
    if (end < 0) break;
    at = end + 2;
  }
  return parts;
}

function partHead(head: string): Omit<Part, "bytes" | "cut"> {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? "";
  const filename = quoted(disposition, "filename");
  const contentType = /^content-type:(.*)$/im.exec(head)?.[1]?.trim();
  return {
    name: quoted(disposition, "name") ?? "",
    ...(filename !== undefined && { filename }),
    ...(contentType !== undefined && { contentType }),
  };
}

/** RFC 7578 §4.2: names are UTF-8, with `"` written as %22. */
function quoted(disposition: string, name: string): string | undefined {
  const value = new RegExp(`[;\\s]${name}="([^"]*)"`, "i").exec(disposition)?.[1];
  return value === undefined
    ? undefined
    : new TextDecoder().decode(Uint8Array.from(value, (letter) => letter.charCodeAt(0))).replaceAll("%22", '"');
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return text;
}
