import { createScramExchange, scramMethod } from "../../core/credentials/scram.ts";
import type { Users } from "../../core/credentials/users.ts";
import type { Access, Verdict } from "../engine/connection/access.ts";
import { createTopicRules, type TopicRule } from "./topic-rules.ts";

export interface AccessOptions {
  /** Clients without a user name may connect. */
  readonly anonymous: boolean;
  readonly users: Users;
  readonly rules: readonly TopicRule[];
}

/** Users, passwords and topic rules. Without users and with `anonymous`, every name is welcome. */
export function createAccessControl({ anonymous, users, rules }: AccessOptions): Access {
  const topicRules = createTopicRules(rules);
  const refused: Verdict = { allowed: false, why: "bad user name or password" };

  async function check(username: string, password: Buffer): Promise<Verdict> {
    return (await users.verify(username, password)) ? { allowed: true, username } : refused;
  }

  return {
    authenticate({ username, password, certificateName }) {
      // Whatever name the client says beside it: that one is proven.
      if (certificateName !== undefined) return { allowed: true, username: certificateName };
      if (username === undefined) {
        return anonymous ? { allowed: true, username: undefined } : { allowed: false, why: "not authorized" };
      }
      if (users.count === 0) return anonymous ? { allowed: true, username } : refused;
      return password === undefined ? refused : check(username, password);
    },
    exchange: (method) => (method === scramMethod && users.count > 0 ? createScramExchange(users.scram) : undefined),
    ...topicRules,
  };
}
