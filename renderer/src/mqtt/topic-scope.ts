/** Whose messages are shown: those of one topic, of a filter, or of a topic and all below it. */
export interface TopicScope {
  /** A topic, or a filter with wildcards; empty for none. */
  readonly topic: string;
  readonly below: boolean;
}

export const noScope: TopicScope = { topic: "", below: false };

/** As a topic filter. */
export const scopeFilter = ({ topic, below }: TopicScope): string => (below && topic !== "" ? `${topic}/#` : topic);

export const hasWildcard = (filter: string): boolean => filter.split("/").some((level) => level === "+" || level === "#");

/** MQTT §4.7.1: # is the last level, and both wildcards stand alone in theirs. */
export function isTopicFilter(filter: string): boolean {
  const levels = filter.split("/");
  return (
    filter !== "" &&
    levels.every((level, place) => (/[+#]/.test(level) ? level === "+" || (level === "#" && place === levels.length - 1) : true))
  );
}

/** Whether messages of more than one topic may be among those shown. */
export const isMixed = (scope: TopicScope): boolean => scope.below || hasWildcard(scope.topic);
