import { accessRuleRows, parseAccessRule } from "../../core/credentials/access-rules.ts";

/** Of the service's credentials: what is kept of a password depends on it. */
export const realm = "Backlot";

export const authenticationMethods = ["digest-sha256", "digest-md5", "basic"] as const;
export type AuthenticationMethod = (typeof authenticationMethods)[number];

export type PathRight = "read" | "publish";

/** With their texts in the form. */
const ruleRights = { both: "play and publish", read: "play", publish: "publish" } as const;

/** `<user> read|publish|both <path>`: user is a name, `*` for everyone, `-` for clients without a name; a path may end in `*`. */
export interface PathRule {
  readonly user: string;
  readonly right: keyof typeof ruleRights;
  readonly path: string;
}

/** The columns of a rule in the form. */
export const pathRuleRows = accessRuleRows(ruleRights, {
  title: "Path",
  placeholder: "cameras/*",
  pattern: "(?=.)[^\\s*]*\\*?",
  problem: "A path is needed, which may end with *.",
});

/** Undefined where the text is not a rule. */
export function parsePathRule(text: string): PathRule | undefined {
  const rule = parseAccessRule(text, ruleRights);
  const [, path] = /^\/?((?=.)[^\s*]*\*?)$/.exec(rule?.subject ?? "") ?? [];
  return rule && path !== undefined ? { user: rule.user, right: rule.right, path } : undefined;
}
