import { timingSafeEqual } from "node:crypto";
import { isRuleFor } from "../../core/credentials/access-rules.ts";
import { createDigestNonces, type DigestCredentials, digestResponse, parseDigestCredentials } from "../../core/credentials/digest.ts";
import type { DigestUsers } from "../../core/credentials/digest-users.ts";
import type { FailureLimits } from "../../core/credentials/failure-limits.ts";
import { type LoginClient, TooBusy } from "../../core/credentials/login-queue.ts";
import { ClientLeft } from "../../core/service/client-left.ts";
import { parseTarget } from "../protocol/header-fields.ts";
import { type HeaderFields, RtspRefusal } from "../protocol/message.ts";
import { type AuthenticationMethod, authenticationMethods, type PathRight, type PathRule, realm } from "./path-rules.ts";

export interface AccessOptions {
  readonly users: DigestUsers;
  /** Without rules every user may do everything, and so may everybody where there are no users. */
  readonly rules: readonly PathRule[];
  readonly methods: readonly AuthenticationMethod[];
  readonly failures: FailureLimits;
}

export interface AccessRequest {
  readonly method: string;
  readonly path: string;
  readonly right: PathRight;
  readonly authorization: string | undefined;
  readonly client: LoginClient;
}

export interface Access {
  /** Resolves with the user, if one is needed or named. Rejects with an RtspRefusal of 401, 403 or 503. */
  check(request: AccessRequest): Promise<string | undefined>;
  /** Of the management: where there are users, one of them with Basic. Resolves with the name. Rejects as `check`. */
  checkUser(authorization: string | undefined, client: LoginClient): Promise<string | undefined>;
  /** Of the management: faults of a path and the end of its sessions need the right to publish it. Throws an RtspRefusal of 403. */
  checkChange(user: string | undefined, path: string): void;
  /** 401 with the challenges. */
  unauthorized(text: string): RtspRefusal;
}

/** Basic (RFC 7617) and Digest (RFC 7616) with rights per path. */
export function createAccess({ users, rules, methods, failures }: AccessOptions): Access {
  const nonces = createDigestNonces();

  function allows(user: string | undefined, right: PathRight, path: string): boolean {
    if (rules.length === 0) return users.count === 0 || user !== undefined;
    return rules.some((rule) => isRuleFor(user, rule.user) && (rule.right === "both" || rule.right === right) && matches(rule.path, path));
  }

  /** Clients take the last challenge that they know, so the one that all know comes after the better one. */
  function challenge(isStale: boolean): HeaderFields {
    const digest = (algorithm: string) =>
      `Digest realm="${realm}", nonce="${nonces.issue(Number.POSITIVE_INFINITY)}", algorithm=${algorithm}${isStale ? ", stale=true" : ""}`;
    const texts: Readonly<Record<AuthenticationMethod, () => string>> = {
      "digest-sha256": () => digest("SHA-256"),
      "digest-md5": () => digest("MD5"),
      basic: () => `Basic realm="${realm}"`,
    };
    return authenticationMethods
      .filter((method) => methods.includes(method))
      .map((method) => ["WWW-Authenticate", texts[method]()] as const);
  }

  const unauthorized = (text: string, isStale = false) => new RtspRefusal(401, text, challenge(isStale));

  /** Checks everything of a Digest but the password. */
  function checkDigest(digest: DigestCredentials, path: string): void {
    if (!methods.includes(methodOf(digest))) throw unauthorized("this algorithm of Digest is not allowed");
    // Clients may compute a digest for the stream and send it with a request for one of its tracks.
    if (digest.realm !== realm || !namesPath(digest.uri, path)) throw unauthorized("the credentials are for something else");
    const age = nonces.ageOf(digest.nonce);
    if (age !== "fresh") throw unauthorized(age === "stale" ? "the nonce is stale" : "the nonce is not ours", age === "stale");
  }

  function isRightDigest(digest: DigestCredentials, method: string): boolean {
    const algorithm = methodOf(digest) === "digest-sha256" ? "SHA-256" : "MD5";
    const secret = users.secret(digest.username, algorithm);
    const expected = Buffer.from(digestResponse({ algorithm, session: false, secret, method, body: Buffer.alloc(0) }, digest));
    const given = Buffer.from(digest.response);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  async function authenticate({ method, path, client }: AccessRequest, authorization: string): Promise<string> {
    const digest = parseDigestCredentials(authorization);
    const basic = digest || !methods.includes("basic") ? undefined : parseBasic(authorization);
    if (digest) checkDigest(digest, path);
    const username = digest?.username ?? basic?.username;
    if (username === undefined) throw unauthorized("the credentials are of a scheme that is not allowed");
    await login(client, username, () => (digest ? isRightDigest(digest, method) : users.verify(username, basic?.password ?? "", client)));
    return username;
  }

  /** Counts failures, and refuses further attempts after too many. */
  async function login(client: LoginClient, username: string, verify: () => boolean | Promise<boolean>): Promise<void> {
    const attempt = await failures.begin(client, username).catch(refuseBusy);
    if ("refused" in attempt) throw new RtspRefusal(403, "too many failed logins", [["Retry-After", String(attempt.resetSeconds)]]);
    let isRight = false;
    try {
      isRight = await verify();
    } catch (error) {
      attempt.dropped();
      refuseBusy(error);
    }
    if (!isRight) {
      attempt.failed();
      throw unauthorized("the user name or the password is wrong");
    }
    attempt.succeeded(true);
  }

  return {
    unauthorized: (text) => unauthorized(text),
    async check(request) {
      const { authorization, right, path } = request;
      // Credentials count where users exist; without users any name may play.
      const user = authorization !== undefined && users.count > 0 ? await authenticate(request, authorization) : undefined;
      if (allows(user, right, path)) return user;
      const what = right === "read" ? "play" : "publish";
      if (user === undefined && users.count > 0) throw unauthorized(`a user is needed to ${what} ${path}`);
      throw new RtspRefusal(403, `${nameOf(user)} may not ${what} ${path}`);
    },
    async checkUser(authorization, client) {
      if (users.count === 0) return undefined;
      const basic = parseBasic(authorization ?? "");
      if (!basic) throw unauthorized("the management needs a user");
      await login(client, basic.username, () => users.verify(basic.username, basic.password, client));
      return basic.username;
    },
    checkChange(user, path) {
      if (!allows(user, "publish", path))
        throw new RtspRefusal(403, `${nameOf(user)} may not change ${path}: that needs the right to publish it`);
    },
  };
}

function refuseBusy(error: unknown): never {
  if (error instanceof TooBusy) throw new RtspRefusal(503, "too many logins at once");
  throw error instanceof ClientLeft ? new RtspRefusal(503, "the connection was closed meanwhile") : error;
}

const nameOf = (user: string | undefined): string => user ?? "a client without a name";

const methodOf = ({ algorithm }: DigestCredentials): AuthenticationMethod =>
  algorithm.toUpperCase() === "SHA-256" ? "digest-sha256" : "digest-md5";

const matches = (rule: string, path: string): boolean => (rule.endsWith("*") ? path.startsWith(rule.slice(0, -1)) : rule === path);

function parseBasic(authorization: string): { readonly username: string; readonly password: string } | undefined {
  const encoded = /^basic\s+([\w+/=-]+)\s*$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Of an absolute URI or of a path alone. */
const namesPath = (uri: string, path: string): boolean => parseTarget(uri.startsWith("/") ? `rtsp://host${uri}` : uri)?.path === path;
