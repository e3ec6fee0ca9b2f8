import type { ConfigRows } from "../../../contract/config.ts";
import { ruleUserColumn } from "../../core/credentials/rule-user.ts";

/** Of the service's credentials: what is kept of a password depends on it. */
export const realm = "Backlot";

export const authenticationMethods = ["digest-sha256", "digest-md5", "basic"] as const;
export type AuthenticationMethod = (typeof authenticationMethods)[number];

export type PathRight = "read" | "publish";

/** `<user> read|publish|both <path>`: user is a name, `*` for everyone, `-` for clients without a name; a path may end in `*`. */
export interface PathRule {
  readonly user: string;
  readonly right: PathRight | "both";
  readonly path: string;
}

/** The columns of a rule in the form. */
export const pathRuleRows: ConfigRows = {
  row: "rule",
  columns: [
    ruleUserColumn,
    {
      title: "May",
      choices: [
        { value: "both", label: "play and publish" },
        { value: "read", label: "play" },
        { value: "publish", label: "publish" },
      ],
      pattern: "both|read|publish",
      problem: "This right does not exist.",
    },
    {
      title: "Path",
      placeholder: "cameras/*",
      pattern: "(?=.)[^\\s*]*\\*?",
      problem: "A path is needed, which may end with *.",
    },
  ],
};

/** Undefined where the text is not a rule. */
export function parsePathRule(text: string): PathRule | undefined {
  const [, user, right, path] = /^(\S+)\s+(read|publish|both)\s+\/?([^\s*]*\*?)$/.exec(text.trim()) ?? [];
  return user === undefined || path === undefined || path === "" ? undefined : { user, right: right as PathRule["right"], path };
}
