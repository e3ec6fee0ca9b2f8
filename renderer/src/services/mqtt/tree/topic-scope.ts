/** The shown messages: those of one topic, of a filter, or of a topic and all topics below it. */
export interface TopicScope {
  /** A topic, or a filter with wildcards; empty for none. */
  readonly topic: string;
  readonly below: boolean;
}

export const noScope: TopicScope = { topic: "", below: false };

/** As a topic filter. */
export const scopeFilter = ({ topic, below }: TopicScope): string => (below && topic !== "" ? `${topic}/#` : topic);

export const hasWildcard = (filter: string): boolean => filter.split("/").some((level) => level === "+" || level === "#");

/** MQTT §4.7.1: # is the last level, and each wildcard is a level of its own. */
export function isTopicFilter(filter: string): boolean {
  const levels = filter.split("/");
  return (
    filter !== "" &&
    levels.every((level, place) => (/[+#]/.test(level) ? level === "+" || (level === "#" && place === levels.length - 1) : true))
  );
}

/** Whether the shown messages may have different topics. */
export const isMixed = (scope: TopicScope): boolean => scope.below || hasWildcard(scope.topic);

/** Start of the last level that is not a wildcard: "hall-a" in sensors/hall-a/#. */
export function leafStart(filter: string): number {
  let end = filter.length;
  while (filter.endsWith("/+", end) || filter.endsWith("/#", end)) end -= 2;
  return filter.lastIndexOf("/", end - 1) + 1;
}

/** A topic relative to the selected branch: without the common prefix. */
export function topicWithin({ topic: chosen, below }: TopicScope, topic: string): string {
  const levels = chosen.split("/");
  const wildcard = levels.findIndex((level) => level === "+" || level === "#");
  const branch = wildcard >= 0 ? levels.slice(0, wildcard) : below ? levels : [];
  const start = branch.length === 0 ? "" : `${branch.join("/")}/`;
  return topic.length > start.length && topic.startsWith(start) ? topic.slice(start.length) : topic;
}

/** Why a message cannot be published on the topic. */
export function problemOfTopic(topic: string): string | undefined {
  if (topic === "") return "Enter a topic.";
  if (/[+#]/.test(topic)) return "A topic cannot contain + or #.";
  if (topic.includes("\0")) return "A topic cannot contain NUL.";
  return undefined;
}
