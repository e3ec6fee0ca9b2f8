import { shownAccount } from "../access/shown-account.ts";

const secretName = /token|refresh|pass|pwd|^pw$|^pin$|secret|credential|^auth|^code$|^otp$/i;
/** Where clients put who they are, and people at times their password. */
const accountName = /^(?:user(?:_?name)?|login|e?mail|account)$/i;

/** Fields of the API's own bodies, and what clients may send in their place, that no record may show. */
export const isSecretField = (name: string, value?: string): boolean =>
  secretName.test(name) || (accountName.test(name) && value !== "" && shownAccount(value?.trim() ?? "") === undefined);
