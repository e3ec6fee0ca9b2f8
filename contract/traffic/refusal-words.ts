import type { TrafficRow } from "./row.ts";

/** The meaning of the error words of Account's API, as its list shows them; the filter of its rows finds both. */
const words: Readonly<Record<string, string>> = {
  wronglogin: "wrong user or password",
  loginrequired: "no credentials",
  mfarequired: "second factor needed",
  wrongcode: "wrong code",
  codeused: "code used already",
  invalidtoken: "token not valid",
  tokenexpired: "token expired",
  tokenused: "token used before",
  tokenrevoked: "token revoked",
  toomanyattempts: "too many attempts",
  notfound: "no such path or record",
  methodnotallowed: "method not allowed",
  missingfield: "field missing",
  invalidfield: "field not valid",
  unknownfield: "field not known",
  invalidjson: "body is not JSON",
  invalidbody: "body not understood",
  invalidpath: "path not understood",
  emailtaken: "e-mail taken",
  soaneeded: "a zone keeps its SOA",
  nsneeded: "a zone keeps a name server",
  toomanyrecords: "too many records",
  unknownmethod: "second factor not known",
  bodytoolarge: "body too large",
  unsupportedtype: "content type not taken",
  unsupportedencoding: "encoding not taken",
  badrequest: "not HTTP, or no valid Host",
  requesttimeout: "did not arrive in time",
  pathtoolong: "path too long",
  headertoolarge: "header too large",
  expectationfailed: "expectation not met",
  notimplemented: "not known here",
  versionnotsupported: "HTTP version not supported",
  busy: "busy",
  storage: "storage failed",
  internal: "internal error",
};

/** Why a row was refused, as lists show it: the words are those of Account. */
export const shownReason = ({ service, reason = "" }: Partial<Pick<TrafficRow, "service" | "reason">>): string =>
  service === "account" ? refusalWords(reason) : reason;

/** "invalidfield: country" becomes "field not valid: country"; an unknown word is unchanged. */
export const refusalWords = (reason: string): string =>
  reason
    .split(", ")
    .map((part) => {
      const at = part.indexOf(":");
      const code = at < 0 ? part : part.slice(0, at);
      return `${words[code] ?? code}${at < 0 ? "" : part.slice(at)}`;
    })
    .join(", ");

/** The error words whose meaning contains a word of a text in lower case. */
export function refusalsSaying(word: string): readonly string[] {
  const said = word.replace(/[:,]$/, "");
  return Object.entries(words).flatMap(([code, meaning]) => (meaning.toLowerCase().includes(said) ? [code] : []));
}
