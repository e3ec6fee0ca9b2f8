import type { ParsedParamsOf } from "../../../contract/operation.ts";
import type { AccountActions, AccountTry, AccountTryStep } from "../../../contract/services/account.ts";
import type { LoopbackClient } from "../../core/http/loopback-client.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { totpMethod } from "../access/logins.ts";

/** Login, the second factor if required, and one call with the token. Ends at the first refusal. */
export async function tryAccount(client: LoopbackClient, params: ParsedParamsOf<AccountActions["try"]>): Promise<AccountTry> {
  const { username, password, scheme, code, method, body } = params;
  const target = pathOf(params.target);
  const steps: AccountTryStep[] = [];

  async function step(title: AccountTryStep["title"], sent: AccountTryStep["request"]): Promise<Record<string, unknown> | undefined> {
    const request = { ...sent, headers: [...sent.headers, ["User-Agent", "backlot"] as const] };
    const { status, reason, headers, body: received, tookMs, row } = await client.send(request);
    steps.push({ title, request, status, reason, headers, body: received, tookMs, ...(row !== undefined && { row }) });
    return status === 200 ? objectOf(Buffer.from(received.base64, "base64")) : undefined;
  }
  const json = (fields: unknown) => ({ headers: [["Content-Type", "application/json"]] as const, body: JSON.stringify(fields) });
  const call = (authorization: string) =>
    step("call", {
      method,
      target,
      headers: [["Authorization", authorization], ...(body === "" ? [] : ([["Content-Type", "application/json"]] as const))],
      body,
    });

  if (scheme === "basic") {
    await call(`Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
    return { steps, codeNeeded: false };
  }
  let answer = await step("login", { method: "POST", target: "/login", ...json({ username, password }) });
  const mfa = answer?.mfa as { readonly token?: unknown } | undefined;
  if (typeof mfa?.token === "string") {
    if (code === undefined || code === "") return { steps, codeNeeded: true };
    const { headers, body: payload } = json({ method: totpMethod, payload: { code } });
    answer = await step("second factor", {
      method: "POST",
      target: "/mfa/verify",
      headers: [["Authorization", `Bearer ${mfa.token}`], ...headers],
      body: payload,
    });
  }
  if (typeof answer?.token === "string") await call(`Bearer ${answer.token}`);
  return { steps, codeNeeded: false };
}

/** The target as a request line allows it. Throws CALL_INVALID. */
function pathOf(target: string): string {
  const url = URL.parse(target, "http://own.invalid");
  if (url?.host === "own.invalid") return url.pathname + url.search;
  throw new ServiceError("CALL_INVALID", `"${target}" is not a path`, "Write it as /details or /api/details.");
}

function objectOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
