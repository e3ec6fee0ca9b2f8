import { isUtf8 } from "node:buffer";

/** The bytes as text; undefined where they are not UTF-8. */
export const utf8Text = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString("utf8") : undefined);
