import type { FailureLimits } from "../../core/credentials/failure-limits.ts";
import type { LoginClient } from "../../core/credentials/login-queue.ts";
import { createScramExchange, scramMethod } from "../../core/credentials/scram.ts";
import type { Users } from "../../core/credentials/users.ts";
import type { Access, AuthExchange, AuthStep, Verdict } from "../engine/connection/access.ts";
import { createTopicRules, type TopicRule } from "./topic-rules.ts";

export interface AccessOptions {
  /** Clients without a user name may connect. */
  readonly anonymous: boolean;
  readonly users: Users;
  readonly rules: readonly TopicRule[];
  /** Failures are counted by address: counting by account would let any client lock a user out. */
  readonly failures: Pick<FailureLimits, "begin">;
}

const refused: Verdict = { allowed: false, why: "bad user name or password" };

/** Users, passwords and topic rules. With no users and with `anonymous`, any name may connect. */
export function createAccessControl({ anonymous, users, rules, failures }: AccessOptions): Access {
  const topicRules = createTopicRules(rules);

  async function check(username: string, password: Buffer, client: LoginClient): Promise<Verdict> {
    const attempt = await failures.begin(client, undefined);
    if ("refused" in attempt) return { allowed: false, why: "too many failures" };
    try {
      const isRight = await users.verify(username, password, client);
      if (isRight) attempt.succeeded(false);
      else attempt.failed();
      return isRight ? { allowed: true, username } : refused;
    } catch (error) {
      attempt.dropped();
      throw error;
    }
  }

  /** The last step, which verifies the password, counts as a login. */
  function limitedScram(client: LoginClient): AuthExchange {
    const exchange = createScramExchange(users.scram);
    let isOpened = false;
    return {
      step(data): AuthStep | Promise<AuthStep> {
        if (isOpened) return lastStep(data);
        const step = exchange.step(data);
        isOpened = step.state === "continue" && step.data.length > 0;
        return step;
      },
    };

    async function lastStep(data: Buffer): Promise<AuthStep> {
      const attempt = await failures.begin(client, undefined);
      if ("refused" in attempt) return { state: "failed" };
      const step = exchange.step(data);
      if (step.state === "done") attempt.succeeded(false);
      else attempt.failed();
      return step;
    }
  }

  return {
    authenticate({ username, password, certificateName, client }) {
      // The certificate's name wins over the user name in CONNECT, since it is verified.
      if (certificateName !== undefined) return { allowed: true, username: certificateName };
      if (username === undefined) {
        return anonymous ? { allowed: true, username: undefined } : { allowed: false, why: "not authorized" };
      }
      if (users.count === 0) return anonymous ? { allowed: true, username } : refused;
      return password === undefined ? refused : check(username, password, client);
    },
    exchange: (method, client) => (method === scramMethod && users.count > 0 ? limitedScram(client) : undefined),
    ...topicRules,
  };
}
