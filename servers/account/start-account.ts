import path from "node:path";
import type { Endpoint } from "../../contract/service.ts";
import type { AccountActions } from "../../contract/services/account.ts";
import { sqliteFileError } from "../core/files/sqlite-file.ts";
import { createHttpRecorder } from "../core/http/http-recorder.ts";
import { createHttpRedaction } from "../core/http/http-redaction.ts";
import { createHttpServerFactory } from "../core/http/http-server.ts";
import { createClientAddress } from "../core/limits/rate-limit-client.ts";
import { listenTcp } from "../core/net/tcp-listener.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { createAuthenticator } from "./access/authenticator.ts";
import { createBasicCache } from "./access/basic-cache.ts";
import { createCredentialCheck } from "./access/credential-check.ts";
import { createFailureLimits } from "./access/failure-limits.ts";
import { createLogins } from "./access/logins.ts";
import { createPasswords } from "./access/passwords.ts";
import { openSigningKey } from "./access/signing-key.ts";
import { createTokens } from "./access/tokens.ts";
import type { AccountConfig } from "./account-config.ts";
import { createAccountApp, everyAnswer } from "./http/account-app.ts";
import { billingRoutes } from "./http/billing-routes.ts";
import { detailsRoutes } from "./http/details-routes.ts";
import { dnsRoutes } from "./http/dns-routes.ts";
import { loginRoutes } from "./http/login-routes.ts";
import { errorBody } from "./http/refusal.ts";
import { isSecretField } from "./http/secret-fields.ts";
import { createAccountActions } from "./page/account-actions.ts";
import { createAccountShow } from "./page/account-views.ts";
import { createOwnRequests } from "./page/own-request.ts";
import { createSampleTraffic } from "./page/sample-traffic.ts";
import { tryAccount } from "./page/try-account.ts";
import { openAccountStore } from "./store/account-store.ts";
import { putSampleData, sampleUser } from "./store/sample-data.ts";

export async function startAccount(
  context: ServiceContext<AccountConfig, AccountActions>,
  endpointsAt: (port: number) => readonly Endpoint[],
): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const now = Date.now;
  const clientAddress = createClientAddress({ hops: config.proxyHops, addresses: config.proxyAddresses });
  const key = await openSigningKey(context.dataDir(), log);
  const store = await openAccountStore(path.join(context.dataDir(), "account.db"));
  onStop(() => store.close());

  const passwords = createPasswords({ costExponent: config.scryptCost });
  const cache = createBasicCache({ lastsMs: config.basicCacheSeconds * 1_000 });
  const limits = createFailureLimits({
    failures: config.loginFailures,
    windowMs: config.loginWindowSeconds * 1_000,
    onFailure: () => show.count("failed"),
  });
  async function resetData(): Promise<void> {
    putSampleData(store, await passwords.hash(sampleUser.password));
    cache.forgetAll();
    limits.reset();
    log.notable("Put the sample data in place");
  }
  if (config.resetData || store.users.count() === 0) await resetData();

  const faultOf = (error: unknown) => sqliteFileError(error, store.file);
  function onFault(error: unknown): void {
    const fault = faultOf(error);
    if (fault instanceof ServiceError) log.error(`${fault.message}. ${fault.hint}`);
    else log.error(`A request failed: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`);
  }
  const show = createAccountShow({ store, limits, now, onFault, view: (name, value) => context.view(name, value) });
  onStop(show.close);

  const { users, sessions } = store;
  const lastsSeconds = { access: config.accessSeconds, refresh: config.refreshSeconds, mfa: config.mfaSeconds };
  const tokens = createTokens({ key, issuer: config.issuer, audience: config.audience, lastsSeconds, users, sessions, now });
  const check = createCredentialCheck({ users, passwords, limits });
  const authenticator = createAuthenticator({ tokens, users, check, cache, onUse: show.used });
  const logins = createLogins({ users, sessions, tokens, check, log, now, onChange: () => show.changed("sessions") });
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
    ...dnsRoutes(store.zones, now),
  ];

  const redaction = createHttpRedaction(isSecretField);
  const recorder = createHttpRecorder({ traffic: context.traffic, log, bodyLimit: config.recordedBodyBytes, redaction });
  const app = createAccountApp({ routes, authenticator, clientAddress, bodyBytes: config.bodyBytes, faultOf, onFault });
  const createServer = createHttpServerFactory({
    app,
    recorder,
    log,
    limits: { ...config, headersTimeoutMs: Math.min(10_000, config.requestTimeoutMs) },
    errorBody,
    headers: everyAnswer,
    handle: app as unknown as (request: object, response: object) => void,
  });
  const port = await listenTcp({ port: config.port, openToLan: config.openToLan, createServer, onStop });
  onStop(() => recorder.connections.destroyAll());
  const requests = createOwnRequests({ port, recorder });
  onStop(requests.close);
  const sample = createSampleTraffic({ requests, log, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  onStop(() => recorder.stop());

  context.counters(recorder.counters);
  context.handle({
    ...createAccountActions({ store, show, passwords, cache, limits, issuer: config.issuer, log, now, resetData }),
    try: (params) => tryAccount(requests, params),
    "sample.start": () => {
      sample.start();
      return null;
    },
    "sample.stop": () => {
      sample.stop();
      return null;
    },
  });
  return endpointsAt(port);
}
