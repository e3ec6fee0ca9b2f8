/** The parts of the routes' paths that hold a password or a cookie's value. */
const secretPath =
  /^((?:[A-Za-z][\w+.-]*:\/\/[^/?#]*)?\/(?:(?:hidden-)?basic-auth\/[^/?]*|digest-auth\/[^/?]*\/[^/?]*|cookies\/set\/[^/?]*)\/)[^?]+/;
const cookieQuery = /^[^?]*\/cookies\/set\/?\?/;

/** A request target that may stand in a log. */
export function maskSecretPath(target: string): string {
  if (!target.includes("auth/") && !target.includes("/cookies/set")) return target;
  const masked = target.replace(secretPath, "$1…");
  return cookieQuery.test(masked) ? masked.replace(/([?&][^=&?]*)=[^&]*/g, "$1=…") : masked;
}
