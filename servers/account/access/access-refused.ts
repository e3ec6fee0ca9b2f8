import type { FailureDecision } from "../../core/credentials/failure-limits.ts";
import type { TokenProblem } from "./tokens.ts";

/** Why credentials, a token or a code give no access. */
export type AccessProblem =
  | "loginrequired"
  | "wronglogin"
  | "mfarequired"
  | "wrongcode"
  | "codeused"
  | "toomanyattempts"
  | `token${TokenProblem}`;

/** No access. How a protocol answers that is its own affair. */
export class AccessRefused extends Error {
  override readonly name = "AccessRefused";
  readonly problem: AccessProblem;
  /** Whom it concerns, for the page. */
  readonly user: string | undefined;
  /** After a check that counts: how many failures there may still be. */
  readonly decision: FailureDecision | undefined;

  constructor(problem: AccessProblem, options: { readonly user?: string | undefined; readonly decision?: FailureDecision } = {}) {
    super(problem);
    this.problem = problem;
    this.user = options.user;
    this.decision = options.decision;
  }
}

/** People type passwords into the wrong field: only what looks like an address is shown. */
export const shownAccount = (username: string): string | undefined =>
  /^[^\s@:]+@[^\s@:]+\.[^\s@:]+$/.test(username) && username.length <= 200 ? username : undefined;
