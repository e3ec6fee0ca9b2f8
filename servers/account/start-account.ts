import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Endpoint } from "../../contract/service.ts";
import type { AccountActions, AccountViews } from "../../contract/services/account.ts";
import { createFailureLimits } from "../core/credentials/failure-limits.ts";
import { TooBusy } from "../core/credentials/login-queue.ts";
import { createPasswords } from "../core/credentials/passwords.ts";
import { retryWhileLocked, sqliteFileError } from "../core/files/sqlite-file.ts";
import type { HttpAddress } from "../core/http/http-definition.ts";
import { asksForMethod, type CorsOptions } from "../core/http/messages/cors.ts";
import { createHttpRedaction } from "../core/http/record/http-redaction.ts";
import { serveHttp } from "../core/http/serve-http.ts";
import { createClientAddress } from "../core/limits/rate-limit-client.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { AccessRefused, shownAccount } from "./access/access-refused.ts";
import { createAuthenticator } from "./access/authenticator.ts";
import { createBasicCache } from "./access/basic-cache.ts";
import { createCredentialCheck } from "./access/credential-check.ts";
import { createLogins } from "./access/logins.ts";
import { openSigningKey } from "./access/signing-key.ts";
import { createTokens } from "./access/tokens.ts";
import { createAccountActions, withFaults } from "./account-actions.ts";
import type { AccountConfig } from "./account-config.ts";
import { createAccountViews } from "./page/account-views.ts";
import { tryAccount } from "./page/try-account.ts";
import { accountRoutes, tidyPath } from "./routes/account-routes.ts";
import { billingRoutes, detailsRoutes } from "./routes/details-routes.ts";
import { dnsRoutes } from "./routes/dns-routes.ts";
import { loginRoutes } from "./routes/login-routes.ts";
import { errorBody, Refusal, refusalOfAccess } from "./routes/refusal.ts";
import { isSecretField } from "./routes/request-fields.ts";
import { accountSample } from "./sample-traffic.ts";
import { openAccountStore } from "./store/account-store.ts";
import { putSampleData, sampleUser } from "./store/sample-data.ts";

export async function startAccount(
  context: ServiceContext<AccountConfig, AccountActions, AccountViews>,
  endpoints: (address: HttpAddress) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const now = Date.now;
  const clientAddress = createClientAddress({ hops: config.proxyHops, addresses: config.proxyAddresses });
  const key = await openSigningKey(context.dataDir(), log);
  const store = await retryWhileLocked(() => openAccountStore(path.join(context.dataDir(), "account.db")));
  onStop(() => store.close());

  const passwords = createPasswords({ costExponent: config.scryptCost });
  const cache = createBasicCache({ lastsMs: config.basicCacheSeconds * 1_000 });
  const limits = createFailureLimits({
    failures: config.loginFailures,
    windowMs: config.loginWindowSeconds * 1_000,
    onFailure: () => show.count("failed"),
    accountName: (name) => shownAccount(name) ?? "with a name that is not an e-mail address",
  });
  async function resetData(): Promise<void> {
    const hash = await passwords.hash(sampleUser.password);
    // A client may have begun thousands.
    while (!(await store.write(() => store.sessions.removeSome()))) await nextTurn();
    await store.write(() => putSampleData(store, hash));
    cache.forgetAll();
    limits.reset();
    log.notable("Created the sample data");
  }
  const faultOf = (error: unknown) => sqliteFileError(error, store.file);
  try {
    if (config.resetData || store.users.count() === 0) await resetData();
  } catch (error) {
    throw faultOf(error);
  }

  function onFault(error: unknown): void {
    const fault = faultOf(error);
    if (fault instanceof ServiceError) log.error(`${fault.message}. ${fault.hint}`);
    else log.error(`A request failed: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`);
  }
  const show = createAccountViews({ store, limits, now, onFault, isWatched: context.isWatched, view: context.view });
  onStop(show.close);

  const { users, sessions } = store;
  const lastsSeconds = { access: config.accessSeconds, refresh: config.refreshSeconds, mfa: config.mfaSeconds };
  const tokens = createTokens({ key, issuer: config.issuer, audience: config.audience, lastsSeconds, users, sessions, now });
  const check = createCredentialCheck({ users, passwords, limits, write: store.write });
  const authenticator = createAuthenticator({ tokens, users, check, cache, onUse: show.used });
  const logins = createLogins({ store, tokens, check, log, now, onChange: () => show.changed("sessions") });
  const routes = [
    ...detailsRoutes({
      store,
      rich: config.richDetails,
      onEmailChange(user) {
        users.dropCredentials(user.id);
        cache.forgetUser(user.id);
      },
      onChange: () => show.changed("users"),
    }),
    ...loginRoutes({
      logins,
      authenticator,
      limits,
      failures: config.loginFailures,
      failedLoginAnswers200: config.failedLoginAnswers200,
      onLogin: () => show.count("login"),
    }),
    ...billingRoutes(store.billing),
    ...dnsRoutes(store, now),
  ];

  const { headers, cors } = answersToPages;
  const serving = await serveHttp(context, {
    routes: accountRoutes(routes, { authenticator, clientAddress, bodyBytes: config.bodyBytes }),
    tidyPath,
    cors,
    headers,
    errors: {
      body: errorBody,
      notFound: () => new Refusal(404, "notfound"),
      notAllowed: (_method, allow) => new Refusal(405, "methodnotallowed", { headers: { Allow: allow } }),
      badPath: () => new Refusal(400, "invalidpath"),
      tooLarge: () =>
        new Refusal(413, "bodytoolarge", { why: `The body is larger than ${config.bodyBytes} bytes (Largest body, ACCOUNT_BODY_BYTES)` }),
      refusalOf(error) {
        if (error instanceof AccessRefused) return refusalOfAccess(error);
        if (error instanceof TooBusy) return new Refusal(503, "busy", { headers: { "Retry-After": "1" } });
        const fault = faultOf(error);
        onFault(fault);
        return fault instanceof ServiceError
          ? new Refusal(503, "storage", { headers: { "Retry-After": "1" } })
          : new Refusal(500, "internal");
      },
    },
    ...(!config.recordCredentials && { redaction: createHttpRedaction(isSecretField) }),
    sample: accountSample(log),
  });
  context.handle({
    ...withFaults(createAccountActions({ store, show, passwords, cache, limits, issuer: config.issuer, log, now, resetData }), faultOf),
    ...serving.actions,
    try: (params) => tryAccount(serving.client, params),
  });
  return endpoints({ ...config, ...serving.ports });
}

/** RFC 6749 §5.1: tokens must not be cached. Any origin may read the answers, without the browser's own credentials (Fetch standard). */
const answersToPages: { readonly headers: Readonly<Record<string, string>>; readonly cors: CorsOptions } = {
  headers: { "Cache-Control": "no-store" },
  cors: {
    origins: ["*"],
    exposed: "WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After",
    methods: "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    requestHeaders: "Authorization, Content-Type",
    // The preflight for an unknown path is answered too, so that the page can read the 404 that follows. "*" is the service as a whole.
    isPreflight: (request, allow) => allow !== undefined || asksForMethod(request) || request.url === "*",
    listsAllow: true,
  },
};
