import {
  createDigestNonces,
  type DigestAlgorithm,
  type DigestNonces,
  digestAlgorithms,
  digestResponse,
  digestSecret,
  hashOf,
  parseDigestCredentials,
} from "../../core/credentials/digest.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { readBody } from "../formats/content-coding.ts";
import type { HttpConfig } from "../http-config.ts";
import { sameText } from "./authentication-routes.ts";
import { cookiesOf } from "./cookie-routes.ts";
import { queryOf, textParam } from "./query.ts";
import { sendError, sendPrettyJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

const realm = "backlot";

/** Digest authentication (RFC 7616) at httpbin's paths. */
export function digestRoutes(config: HttpConfig): readonly Route[] {
  const nonces = createDigestNonces();
  const handle = (request: HttpRequest, response: HttpResponse) => authenticate(request, response, nonces, config.bodyBytes);
  return routeGroup("Authentication", [
    {
      path: "/digest-auth/:qop/:user/:password",
      methods: "any",
      summary: "Digest authentication with MD5; qop is auth, auth-int or anything for both",
      handle,
    },
    {
      path: "/digest-auth/:qop/:user/:password/:algorithm",
      methods: "any",
      summary: `The same with ${digestAlgorithms.join(", ")}, or one of them with -sess`,
      handle,
    },
    {
      path: "/digest-auth/:qop/:user/:password/:algorithm/:staleAfter",
      methods: "any",
      summary: "The same, each nonce stale after so many uses",
      handle,
    },
  ]);
}

interface Protection {
  readonly algorithm: DigestAlgorithm;
  readonly session: boolean;
  readonly algorithmName: string;
  readonly qops: readonly string[];
  /** Uses of a nonce before it is stale. */
  readonly uses: number;
}

function protectionOf(request: HttpRequest): Protection {
  const asked = textParam(request, "algorithm").toUpperCase();
  const session = asked.endsWith("-SESS");
  const algorithm = digestAlgorithms.find((name) => name === asked.replace(/-SESS$/, "")) ?? "MD5";
  const qop = textParam(request, "qop");
  const staleAfter = textParam(request, "staleAfter");
  return {
    algorithm,
    session,
    algorithmName: session ? `${algorithm}-sess` : algorithm,
    qops: qop === "auth" || qop === "auth-int" ? [qop] : ["auth", "auth-int"],
    uses: /^\d{1,6}$/.test(staleAfter) ? Number(staleAfter) : Number.POSITIVE_INFINITY,
  };
}

async function authenticate(request: HttpRequest, response: HttpResponse, nonces: DigestNonces, limitBytes: number): Promise<void> {
  const protection = protectionOf(request);
  const user = textParam(request, "user");
  const cookieNeeded = /^(?:1|t|true)$/i.test(queryOf(request).get("require-cookie") ?? "");
  const challenge = (stale: boolean) => sendChallenge(response, nonces, protection, { stale, cookieNeeded });

  const given = parseDigestCredentials(request.headers.authorization);
  if (!given || (cookieNeeded && request.headers.cookie === undefined)) return challenge(false);
  if (cookieNeeded && cookiesOf(request).fake !== "fake_value") throw new HttpRefusal(403, "The cookie set with the challenge is missing");
  // §3.4: the digest names another resource than the request line.
  if (!namesTarget(given.uri, request.url ?? "")) throw new HttpRefusal(400, "The uri of the credentials is not the request's target");

  const body = await readBody(request, response, limitBytes);
  const { algorithm, session } = protection;
  const sameAlgorithm = (given.algorithm || "MD5").toUpperCase() === protection.algorithmName.toUpperCase();
  const secret = digestSecret(algorithm, user, realm, textParam(request, "password"));
  const expected = digestResponse({ algorithm, session, secret, method: request.method ?? "", body }, given);
  const userMatches = given.username === (given.usernameIsHashed ? hashOf(algorithm, `${user}:${realm}`) : user);
  const matches =
    sameAlgorithm && given.realm === realm && protection.qops.includes(given.qop) && userMatches && sameText(given.response, expected);
  if (!matches) return challenge(false);
  const use = nonces.use(given.nonce, given.nc);
  if (use !== "fresh") return challenge(use === "stale");
  sendPrettyJson(response, { authenticated: true, user });
}

function sendChallenge(
  response: HttpResponse,
  nonces: DigestNonces,
  { algorithmName, qops, uses }: Protection,
  options: { stale: boolean; cookieNeeded: boolean },
): void {
  const fields = [
    `realm="${realm}"`,
    `qop="${qops.join(", ")}"`,
    `algorithm=${algorithmName}`,
    `nonce="${nonces.issue(uses)}"`,
    'opaque="YmFja2xvdA"',
    "charset=UTF-8",
    "userhash=true",
    ...(options.stale ? ["stale=true"] : []),
  ];
  sendError(response, 401, options.stale ? "The nonce is stale" : "Unauthorized", {
    "WWW-Authenticate": `Digest ${fields.join(", ")}`,
    ...(options.cookieNeeded && { "Set-Cookie": "fake=fake_value; Path=/" }),
  });
}

function namesTarget(uri: string, target: string): boolean {
  if (uri === target) return true;
  // Either may be in absolute form (RFC 9112 §3.2.2).
  const path = (text: string) => text.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  return path(uri) === path(target);
}
