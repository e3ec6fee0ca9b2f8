/** One list of the names of fields whose values are credentials: what records, exports, logs and the window hide goes by it. */

/** In any case, and where `_` or `-` separates words. "author", "passenger" and "refreshRate" are no credentials. */
const secretWord =
  /token|secret|saml(?:art|response)|(?<![a-z])(?:client[-_]?)?assertion(?![a-z_-])|credential|pwd|jwt|signature|session|refresh(?![a-z])|(?<!by|com|sur|tres)pass(?!ag|ed|eng|es|ing|ion|ive|port)|auth(?!or(?!i[sz]))|(?:access|admin|api|encryption|private|room|shared|signing|stream)[-_]?key|(?:2fa|backup|mfa|one[-_]?time|recovery|sms|verification)[-_]?code|(?<![a-z])(?:otp|pin|pw|totp)(?![a-z])|\b(?:code|key|sig)\b/i;
/** The short ones as the last word of a name in camel case: "userPin". */
const secretHump = /(?<=[a-z\d])(?:Otp|OTP|Pin|PIN|Pw|PW|Totp|TOTP)(?![a-z])/;

/** Whether a name, or a text that may have names, has that of a credential. */
export const namesSecret = (text: string): boolean => secretWord.test(text) || secretHump.test(text);
