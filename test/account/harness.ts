import { readFileSync } from "node:fs";
import path from "node:path";
import type { AccountActions, AccountViews } from "../../contract/services/account.ts";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import { accountService } from "../../servers/account/account-service.ts";
import { readLogs } from "../../servers/core/service/log.ts";
import { createEventLog } from "../support/event-log.ts";
import { createRecorded, type Row, rowsOfBatch } from "../support/records.ts";
import { type ServiceUnderTest, startService } from "../support/start-service.ts";

interface AccountContract {
  readonly actions: AccountActions;
  readonly views: AccountViews;
  readonly detail: HttpExchange;
}

export interface AccountUnderTest
  extends Pick<ServiceUnderTest<AccountContract>, "endpoints" | "dataDir" | "logs" | "act" | "ended" | "stop"> {
  readonly url: string;
  readonly port: number;
  /** As they came: the row of an open exchange comes again when it ends. */
  readonly rows: readonly Row[];
  readonly details: readonly HttpExchange[];
  /** Everything that was told to the supervisor, as text. */
  told(): string;
  view<Name extends keyof AccountViews>(name: Name, matches?: (value: AccountViews[Name]) => boolean): Promise<AccountViews[Name]>;
}

/** The service on a free port with cheap passwords, stopped after the test. */
export async function startAccount(
  config: Record<string, unknown> = {},
  options: { readonly dataDir?: string } = {},
): Promise<AccountUnderTest> {
  const rows: Row[] = [];
  const details: HttpExchange[] = [];
  const recorded = createRecorded();
  const views = createEventLog<readonly [string, unknown]>();
  const told: string[] = [];
  const { endpoints, dataDir, logs, act, ended, stop } = await startService<AccountContract>(accountService, {
    ...options,
    config: { port: 0, scryptCost: 10, ...config },
    onBatch(batch) {
      const added = recorded.add(batch).map((id) => recorded.detail(id) as HttpExchange);
      const texts = [rowsOfBatch(batch), added, readLogs(batch.logs)].map((part) => JSON.stringify(part));
      told.push(Buffer.from(batch.records).toString(), ...texts);
      rows.push(...rowsOfBatch(batch));
      details.push(...added);
    },
    onView(name, value) {
      told.push(JSON.stringify(value));
      views.add([name, value]);
    },
  });
  const { origin, port } = new URL(endpoints[0]?.url ?? "");
  return {
    url: origin,
    port: Number(port),
    endpoints,
    dataDir,
    logs,
    rows,
    details,
    act,
    ended,
    stop,
    told: () => told.join("\n"),
    async view<Name extends keyof AccountViews>(name: Name, matches: (value: AccountViews[Name]) => boolean = () => true) {
      const found = await views.until(([shown, value]) => shown === name && matches(value as AccountViews[Name]));
      return found[1] as AccountViews[Name];
    },
  };
}

export const email = "api@example.com";
export const password = "backlot-demo";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came, whatever it is
  readonly json: any;
}

export async function ask(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === "" ? undefined : JSON.parse(text) };
}

export const send = (url: string, method: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(url, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
export const basic = (name = email, secret = password): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`,
});

export interface Pair {
  readonly token: string;
  readonly refresh: string;
}

/** Logs in; throws where that is refused. */
export async function login(url: string, username = email, secret = password): Promise<Pair> {
  const { status, json, text } = await send(`${url}/login`, "POST", { username, password: secret });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as Pair;
}

export interface Claims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

export const claimsOf = (token: string): Claims => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Claims;

/** The installation's secret. */
export const signingKey = ({ dataDir }: AccountUnderTest): Buffer =>
  Buffer.from(readFileSync(path.join(dataDir, "signing-key"), "utf8").trim(), "base64url");

export const userId = async ({ act }: AccountUnderTest, name = email): Promise<number> => {
  const { users } = await act("user.list", { text: name });
  return users[0]?.id ?? 0;
};
