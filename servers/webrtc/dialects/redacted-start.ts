import { type IsSecret, redactBody } from "../../core/http/record/redact-body.ts";

/** To look for secrets takes a microsecond for some ten characters. No message with a password is longer. */
const mostCharacters = 4_096;

/** For its row, a message of a client without its secrets; the rest of a longer one is left out. */
export const redactedStart = (text: string, isSecret: IsSecret): string => redactBody(text.slice(0, mostCharacters), isSecret);
