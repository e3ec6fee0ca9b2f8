import type { ReplyCount, ReplyRuleView } from "../../../../../contract/services/grpc-replies.ts";

/** A rule with its counts. */
export interface RuleRow extends ReplyRuleView {
  /** From 1: the first rule that matches answers. */
  readonly place: number;
  readonly matched: number;
  readonly answered: number;
}

/** Rules whose name, method, conditions or answer contain the text, in their order. */
export function ruleRows(rules: readonly ReplyRuleView[], counts: readonly ReplyCount[], filter: string): readonly RuleRow[] {
  const text = filter.trim().toLowerCase();
  const countOf = new Map(counts.map((count) => [count.key, count]));
  return rules.flatMap((rule, index) => {
    const { name, method, when, answer } = rule;
    if (![name, method, when, answer].some((part) => part.toLowerCase().includes(text))) return [];
    const { matched = 0, answered = 0 } = countOf.get(rule.key) ?? {};
    return [{ ...rule, place: index + 1, matched, answered }];
  });
}
