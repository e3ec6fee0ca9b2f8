import type { FailureDecision, FailureLimits } from "../../core/credentials/failure-limits.ts";
import type { HttpResponse } from "../../core/http/http-route.ts";
import { AccessRefused } from "../access/access-refused.ts";
import type { Authenticator } from "../access/authenticator.ts";
import { type LoginAnswer, type Logins, totpMethod } from "../access/logins.ts";
import type { ApiRoute, Call } from "./account-routes.ts";
import { Refusal } from "./refusal.ts";
import { type Fields, textField } from "./request-fields.ts";

export interface LoginRoutesOptions {
  readonly logins: Logins;
  readonly authenticator: Authenticator;
  readonly limits: Pick<FailureLimits, "stateOf">;
  readonly failures: number;
  readonly failedLoginAnswers200: boolean;
  /** Called after a login. */
  readonly onLogin: () => void;
}

const success = { success: true };

export function loginRoutes(options: LoginRoutesOptions): readonly ApiRoute[] {
  const { logins, authenticator, limits, failures, failedLoginAnswers200, onLogin } = options;

  function sendLimit(response: HttpResponse, { remaining, resetSeconds }: FailureDecision): void {
    response.setHeader("X-RateLimit-Limit", String(failures));
    response.setHeader("X-RateLimit-Remaining", String(remaining));
    response.setHeader("X-RateLimit-Reset", String(resetSeconds));
  }

  /** Adds the limit's fields to every answer; a refusal may be a 200. */
  async function limited<Answer extends LoginAnswer>(
    call: Call,
    login: () => Promise<{ answer: Answer; decision: FailureDecision }>,
  ): Promise<Answer> {
    // For answers before any attempt: an unreadable body, an invalid token.
    sendLimit(call.response, limits.stateOf(call.client.address));
    try {
      const { answer, decision } = await login();
      sendLimit(call.response, decision);
      if (answer.token !== null) onLogin();
      return answer;
    } catch (error) {
      if (!(error instanceof AccessRefused) || !error.decision) throw error;
      sendLimit(call.response, error.decision);
      if (failedLoginAnswers200 && error.problem !== "toomanyattempts") throw new Refusal(200, error.problem, { user: error.user });
      throw error;
    }
  }

  return [
    {
      path: "/login",
      methods: {
        POST: (call) =>
          limited(call, async () => {
            const fields = await call.fields();
            const done = await logins.login(textField(fields, "username").trim(), textField(fields, "password"), call.client);
            call.attributeTo(done.user.email);
            return done;
          }),
      },
    },
    {
      path: "/mfa/verify",
      methods: {
        POST: (call) =>
          limited(call, async () => {
            const caller = authenticator.bearer(call.authorization, "mfa");
            call.attributeTo(caller.user.email);
            const fields = await call.fields();
            if (textField(fields, "method") !== totpMethod) throw new Refusal(400, "unknownmethod");
            return logins.verifyCode(caller, codeOf(fields), call.client);
          }),
      },
    },
    {
      path: "/token",
      methods: {
        POST: async (call) => {
          const { answer, user } = await logins.refresh(refreshTokenOf(await call.fields()));
          call.attributeTo(user.email);
          return answer;
        },
      },
    },
    {
      path: "/revoke",
      methods: {
        POST: async (call) => {
          const text = textField(await call.fields(), "refresh_token");
          if (text !== "") call.attributeTo((await logins.revoke(text)).email);
          else await endOwn(call, "revoked");
          return success;
        },
      },
    },
    {
      path: "/logout",
      methods: {
        POST: async (call) => {
          await endOwn(call, "logged out");
          return success;
        },
      },
    },
  ];

  async function endOwn(call: Call, why: string): Promise<void> {
    const { user, token } = authenticator.bearer(call.authorization);
    call.attributeTo(user.email);
    await logins.endSession(token.session_id, why);
  }
}

function refreshTokenOf(fields: Fields): string {
  const text = textField(fields, "refresh_token");
  if (text === "") throw new Refusal(400, "missingfield: refresh_token");
  return text;
}

/** JSON has `payload.code`; a form writes it `payload[code]`. Some clients send it as a number. */
function codeOf(fields: Fields): string {
  const payload = fields.get("payload");
  const nested = typeof payload === "object" && payload !== null ? (payload as { code?: unknown }).code : undefined;
  const code = nested ?? fields.get("payload[code]") ?? "";
  if (typeof code === "number") return String(code).padStart(6, "0");
  return typeof code === "string" ? code.replaceAll(" ", "") : "";
}
