import { accessRuleRows, isRuleFor, parseAccessRule } from "../../core/credentials/access-rules.ts";
import { createTopicMatcher, isTopicFilter } from "../codec/topic.ts";
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

class Node {
  readonly children = new Map<string, Node>();
  /** Of the rules that end here. */
  readonly users = new Set<string>();
}

/** Rules in a tree of the levels of their filters: the time of a check does not grow with their number. */
class RuleTree {
  private readonly root = new Node();
  /** Their filters depend on the client. */
  private readonly personal: TopicRule[] = [];
  private readonly users = new Set<string>();

  constructor(rules: readonly TopicRule[]) {
    for (const rule of rules) {
      this.users.add(rule.user);
      if (/%[uc]/.test(rule.filter)) this.personal.push(rule);
      else this.add(rule);
    }
  }

  private add({ user, filter }: TopicRule): void {
    let node = this.root;
    for (const level of filter.split("/")) {
      let child = node.children.get(level);
      if (!child) {
        child = new Node();
        node.children.set(level, child);
      }
      node = child;
    }
    node.users.add(user);
  }

  /** Whether any of the rules is for this client. */
  concerns({ username }: Identity): boolean {
    return isFor(username, this.users);
  }

  /** Whether a rule for the client matches every topic that the filter matches; a topic name is a filter too. */
  covers(identity: Identity, filter: string): boolean {
    return this.coversForAll(identity, filter) || this.filtersOf(identity).some((own) => filterCovers(own, filter));
  }

  /** The same for topics, of one client. */
  matcherFor(identity: Identity): (topic: string) => boolean {
    const own = this.filtersOf(identity).map(createTopicMatcher);
    return (topic) => this.coversForAll(identity, topic) || own.some((matches) => matches(topic));
  }

  private coversForAll({ username }: Identity, filter: string): boolean {
    return isCovered(this.root, filter.split("/"), 0, filter.startsWith("$"), username);
  }

  private filtersOf(identity: Identity): string[] {
    if (this.personal.length === 0) return [];
    return this.personal.flatMap(({ user, filter }) => (isRuleFor(identity.username, user) ? (substitute(filter, identity) ?? []) : []));
  }
}

/** As `isRuleFor`, for many rules. */
const isFor = (username: string | undefined, users: ReadonlySet<string>): boolean => users.has("*") || users.has(username ?? "-");

/** As `filterCovers`, from this level on. */
function isCovered(
  { children, users }: Node,
  levels: readonly string[],
  at: number,
  isHidden: boolean,
  username: string | undefined,
): boolean {
  const skipsWildcards = isHidden && at === 0;
  const rest = skipsWildcards ? undefined : children.get("#");
  if (rest && isFor(username, rest.users)) return true;
  const level = levels[at];
  if (level === undefined) return isFor(username, users);
  if (level === "#") return false;
  const any = skipsWildcards ? undefined : children.get("+");
  if (any && isCovered(any, levels, at + 1, isHidden, username)) return true;
  const exact = level === "+" ? undefined : children.get(level);
  return exact !== undefined && isCovered(exact, levels, at + 1, isHidden, username);
}

/** Without rules everything is allowed. With rules, a topic needs a rule that allows it and none that denies it. */
export function createTopicRules(rules: readonly TopicRule[]) {
  const anyRight = rules.length === 0;
  const treeOf = (...rights: readonly TopicRight[]) => new RuleTree(rules.filter(({ right }) => rights.includes(right)));
  const [writing, reading, denying] = [treeOf("write", "readwrite"), treeOf("read", "readwrite"), treeOf("deny")];

  return {
    restricts: !anyRight,
    mayPublish: (identity: Identity, topic: string): boolean =>
      anyRight || (writing.covers(identity, topic) && !denying.covers(identity, topic)),
    maySubscribe: (identity: Identity, filter: string): boolean =>
      anyRight || (reading.covers(identity, filter) && !denying.covers(identity, filter)),
    hiddenFrom: (identity: Identity): ((topic: string) => boolean) | undefined =>
      denying.concerns(identity) ? denying.matcherFor(identity) : undefined,
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
