import { accessRuleRows, isRuleFor, parseAccessRule } from "../../core/credentials/access-rules.ts";
import { createTopicMatcher, isTopicFilter, topicMatches } from "../codec/topic.ts";
import type { Identity } from "../engine/connection/access.ts";

/** With their texts in the form. */
const topicRights = { readwrite: "read and write", read: "read", write: "write", deny: "neither" } as const;
export type TopicRight = keyof typeof topicRights;

/** `<user> <right> <filter>`: user is a name, `*` for everyone, `-` for clients without a name; %u and %c are replaced by name and client identifier. */
export interface TopicRule {
  readonly user: string;
  readonly right: TopicRight;
  readonly filter: string;
}

/** The columns of a rule in the form. */
export const topicRuleRows = accessRuleRows(topicRights, {
  title: "Topics",
  placeholder: "sensors/%u/#",
  // MQTT §4.7.1, as `isTopicFilter`.
  pattern: "(?=.)(?:(?:\\+|[^+#/]*)/)*(?:#|\\+|[^+#/]*)",
  problem: "A topic filter is needed: # comes last; + and # take a whole level.",
});

/** Undefined where the text is not a rule. */
export function parseTopicRule(text: string): TopicRule | undefined {
  const rule = parseAccessRule(text, topicRights);
  return rule && isTopicFilter(rule.subject) ? { user: rule.user, right: rule.right, filter: rule.subject } : undefined;
}

/** Without rules everything is allowed. With rules, a topic needs a rule that allows it and none that denies it. */
export function createTopicRules(rules: readonly TopicRule[]) {
  const anyRight = rules.length === 0;

  function filtersFor(identity: Identity, rights: readonly TopicRight[]): string[] {
    return rules
      .filter(({ user, right }) => rights.includes(right) && isRuleFor(identity.username, user))
      .flatMap(({ filter }) => substitute(filter, identity) ?? []);
  }

  return {
    restricts: !anyRight,
    mayPublish(identity: Identity, topic: string): boolean {
      if (anyRight) return true;
      const matches = (filter: string) => topicMatches(filter, topic);
      return filtersFor(identity, ["write", "readwrite"]).some(matches) && !filtersFor(identity, ["deny"]).some(matches);
    },
    maySubscribe(identity: Identity, filter: string): boolean {
      if (anyRight) return true;
      const allowed = filtersFor(identity, ["read", "readwrite"]).some((rule) => filterCovers(rule, filter));
      return allowed && !filtersFor(identity, ["deny"]).some((rule) => filterCovers(rule, filter));
    },
    hiddenFrom(identity: Identity): ((topic: string) => boolean) | undefined {
      const matchers = filtersFor(identity, ["deny"]).map(createTopicMatcher);
      return matchers.length === 0 ? undefined : (topic) => matchers.some((matches) => matches(topic));
    },
  };
}

/** Undefined if the user name or client identifier contains a wildcard or a slash, which would widen the rule. */
function substitute(filter: string, { username, clientId }: Identity): string | undefined {
  if (filter.includes("%u") && (username === undefined || /[+#/]/.test(username))) return undefined;
  if (filter.includes("%c") && /[+#/]/.test(clientId)) return undefined;
  return filter.replaceAll(/%[uc]/g, (place) => (place === "%u" ? (username ?? "") : clientId));
}

/** Whether `rule` matches every topic that `filter` matches. */
function filterCovers(rule: string, filter: string): boolean {
  if (filter.startsWith("$") && (rule.startsWith("#") || rule.startsWith("+"))) return false;
  const wide = rule.split("/");
  const narrow = filter.split("/");
  for (const [index, level] of wide.entries()) {
    if (level === "#") return true;
    const other = narrow[index];
    if (other === undefined || other === "#") return false;
    if (level !== "+" && level !== other) return false;
  }
  return wide.length === narrow.length;
}
