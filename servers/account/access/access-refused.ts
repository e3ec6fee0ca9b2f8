import type { FailureDecision } from "../../core/credentials/failure-limits.ts";
import { StacklessError } from "../../core/service/stackless-error.ts";
import type { TokenProblem } from "./tokens.ts";

/** Why credentials, a token or a code are refused. */
export type AccessProblem =
  | "loginrequired"
  | "wronglogin"
  | "mfarequired"
  | "wrongcode"
  | "codeused"
  | "toomanyattempts"
  | `token${TokenProblem}`;

/** Access is refused. The caller's protocol decides how to answer. */
export class AccessRefused extends StacklessError {
  override readonly name = "AccessRefused";
  readonly problem: AccessProblem;
  /** The account, for the page. */
  readonly user: string | undefined;
  /** After a counted check: how many failures are left. */
  readonly decision: FailureDecision | undefined;

  /** What exactly is wrong with the credentials, for the page. */
  readonly why: string | undefined;

  constructor(
    problem: AccessProblem,
    options: { readonly user?: string | undefined; readonly decision?: FailureDecision; readonly why?: string | undefined } = {},
  ) {
    super(problem);
    this.problem = problem;
    this.user = options.user;
    this.decision = options.decision;
    this.why = options.why;
  }
}

const longestShown = 200;

/** Users type passwords into the wrong field: only text that looks like an e-mail address is shown. */
export const shownAccount = (username: string): string | undefined =>
  username.length <= longestShown && /^[^\s@:]+@[^\s@:.]+(?:\.[^\s@:.]+)+$/.test(username) ? username : undefined;
