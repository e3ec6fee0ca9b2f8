/** RFC 7541 §4.1: counted for each field, beside its name and value. */
export const fieldOverhead = 32;

/** A field as it was received. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
  /** As HTTP/2 counts it: name, value, and `fieldOverhead`. */
  readonly bytes: number;
  /** RFC 9113 §8.2: the characters of name and value are allowed. */
  readonly isValid: boolean;
}

/** RFC 9113 §8.2.1, and a pseudo-header field begins with a colon. Nothing but tokens of RFC 9110 is sent. */
const validName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** RFC 9113 §8.2.1: NUL, LF and CR nowhere, and no blank at either end. */
const invalidValue = /[\0\r\n]|^[ \t]|[ \t]$/;

export const makeField = (name: string, value: string, bytes = name.length + value.length + fieldOverhead): HeaderField => ({
  name,
  value,
  bytes,
  isValid: validName.test(name) && !invalidValue.test(value),
});

/** RFC 7541 Appendix A */
const staticText =
  ":authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204|:status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate";

/** The first one has index 1. */
export const staticTable: readonly HeaderField[] = staticText.split("|").map((text) => {
  const blank = text.indexOf(" ");
  return blank < 0 ? makeField(text, "") : makeField(text.slice(0, blank), text.slice(blank + 1));
});
