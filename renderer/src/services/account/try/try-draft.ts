import { z } from "zod";
import type { ParamsOf } from "../../../../../contract/operation.ts";
import type { AccountActions } from "../../../../../contract/services/account.ts";
import { type HttpExchangeFacts, headerValue } from "../../../../../contract/traffic/http.ts";
import { notForTry } from "../../../inspectors/kind-commands.ts";
import { createHandover } from "../../../pages/service/handover.ts";
import { targetWithoutCredentials, withoutCredentialText } from "../../../ui/credentials.ts";
import { checkJsonText, sentTarget, tryOfExchange } from "../../try/try-request.ts";
import { sampleLogin } from "../account-service.ts";

export const schemes = ["bearer", "basic"] as const;
export type Scheme = (typeof schemes)[number];
export const schemeTitles: Readonly<Record<Scheme, string>> = { bearer: "Login, then a token", basic: "Basic" };

export const callMethods = ["GET", "POST", "PUT", "DELETE"] as const;
export type CallMethod = (typeof callMethods)[number];

/** The remembered part of the form: without the password and the code. */
export interface TryDraft {
  readonly username: string;
  readonly scheme: Scheme;
  readonly method: CallMethod;
  readonly target: string;
  readonly body: string;
}

export const tryDraftSchema: z.ZodType<TryDraft> = z.object({
  username: z.string(),
  scheme: z.enum(schemes),
  method: z.enum(callMethods),
  target: z.string(),
  body: z.string(),
});

/** Also of a call: a manual login has a password in its body. */
export const draftWithoutCredentials = (draft: TryDraft): TryDraft => ({
  ...draft,
  target: targetWithoutCredentials(draft.target),
  body: withoutCredentialText(draft.body),
});

export const firstDraft: TryDraft = { username: sampleLogin.username, scheme: "bearer", method: "GET", target: "/details", body: "" };

/** Recorded calls that were opened in Try. */
export const recordedCalls = createHandover<Partial<TryDraft>>();

export const takesBody = (method: CallMethod): boolean => method === "POST" || method === "PUT";

/** A recorded call with its user and scheme, as far as they are known. Throws if the form cannot represent it. */
export function callOfExchange(exchange: HttpExchangeFacts, username: string | undefined): Partial<TryDraft> {
  const { method: name, target, body } = tryOfExchange(exchange);
  const method = callMethods.find((known) => known === name);
  if (!method) throw notForTry(`Try does not send ${name}.`);
  if (takesBody(method) && checkJsonText(body).state === "invalid")
    throw notForTry("Its body is not JSON, as a form is: Try sends JSON only.");
  const credentials = headerValue(exchange.request.headers, "authorization");
  const scheme = schemes.find((known) => credentials.toLowerCase().startsWith(known));
  return { method, target, body, ...(scheme && { scheme }), ...(username !== undefined && { username }) };
}

/** Initial suggestions of calls. */
export const calls: readonly { readonly method: CallMethod; readonly target: string; readonly body?: string }[] = [
  { method: "GET", target: "/details" },
  { method: "PUT", target: "/details", body: '{\n  "city": "Santa Rosa"\n}' },
  { method: "GET", target: "/balance" },
  { method: "GET", target: "/invoice" },
  { method: "GET", target: "/service" },
  { method: "GET", target: "/dns" },
  { method: "GET", target: "/service/292/dns/1178" },
  {
    method: "POST",
    target: "/service/292/dns/1178/records",
    body: '{\n  "name": "_acme-challenge",\n  "type": "TXT",\n  "content": "hello",\n  "ttl": 60\n}',
  },
  { method: "POST", target: "/logout" },
];

export const callName = ({ method, target }: { readonly method: string; readonly target: string }): string => `${method} ${target}`;

/** The parameters of the service's action. */
export function triedParams(draft: TryDraft, password: string, code: string): ParamsOf<AccountActions["try"]> {
  const digits = code.replaceAll(/\s/g, "");
  return {
    username: draft.username.trim(),
    password,
    scheme: draft.scheme,
    ...(digits !== "" && { code: digits }),
    method: draft.method,
    target: sentTarget(draft.target),
    body: takesBody(draft.method) ? draft.body : "",
  };
}
