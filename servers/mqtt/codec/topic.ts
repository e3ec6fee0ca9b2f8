/** Topic names and filters, MQTT §4.7. */

/** V8 hashes longer strings by their length only: a map with thousands that begin alike compares a name with all of them. */
const hashedLength = 16_383;
/** So no more of them are held of each kind: subscriptions, retained messages, sessions, topics of the page. */
export const mostLongNames = 64;
export const isLongName = (name: string): boolean => name.length > hashedLength;

/** Memory of the characters of a text: one above U+00FF makes each take two bytes. */
export const textBytes = (text: string): number => 2 * text.length;

/** V8 makes no copy of a longer part of a text, which then keeps the whole text in memory. */
const copiedLength = 13;

/** A part of a text, such as a level of a topic or filter, to be kept for longer than that. */
export const keptText = (part: string): string => (part.length < copiedLength ? part : (JSON.parse(JSON.stringify(part)) as string));

/** For the message of an error. */
export const shownName = (name: string): string => `"${name.length > 100 ? `${name.slice(0, 100)}…` : name}"`;

/** [MQTT-4.7.3-1], [MQTT-3.3.2-2]: at least one character, no wildcard. */
export const isTopicName = (topic: string): boolean => topic.length > 0 && !topic.includes("#") && !topic.includes("+");

/** [MQTT-4.7.1-2], [MQTT-4.7.1-3]: `#` only as the last level, `+` only as a whole one. */
export function isTopicFilter(filter: string): boolean {
  if (filter.length === 0) return false;
  if (!filter.includes("#") && !filter.includes("+")) return true;
  const levels = filter.split("/");
  return levels.every((level, index) =>
    level === "#" ? index === levels.length - 1 : level === "+" || (!level.includes("#") && !level.includes("+")),
  );
}

export const hasWildcard = (filter: string): boolean => filter.includes("#") || filter.includes("+");

const sharePrefix = "$share/";

/** Whether the topic is one of the broker's $SYS topics. */
export const isSystemTopic = (topic: string): boolean => topic.startsWith("$SYS/");

/** Topics to which clients may not publish: $SYS, and names reserved for shared subscriptions. */
export const isReservedTopic = (topic: string): boolean => topic === "$SYS" || isSystemTopic(topic) || topic.startsWith(sharePrefix);

export interface SharedFilter {
  readonly group: string;
  readonly filter: string;
}

export const isSharedFilter = (filter: string): boolean => filter.startsWith(sharePrefix) || filter === "$share";

/** `$share/{group}/{filter}`; undefined if it is malformed ([MQTT5-4.8.2-1], [MQTT5-4.8.2-2]). */
export function parseSharedFilter(filter: string): SharedFilter | undefined {
  const slash = filter.indexOf("/", sharePrefix.length);
  if (slash <= sharePrefix.length) return undefined;
  const group = filter.slice(sharePrefix.length, slash);
  const inner = filter.slice(slash + 1);
  return hasWildcard(group) || !isTopicFilter(inner) ? undefined : { group, filter: inner };
}

/** Whether a filter matches a topic name; for single checks. The trie serves many subscriptions. */
export const topicMatches = (filter: string, topic: string): boolean => createTopicMatcher(filter)(topic);

/** As `topicMatches`, for one filter and many topics: a topic is not split into levels. */
export function createTopicMatcher(filter: string): (topic: string) => boolean {
  const levels = filter.split("/");
  const hidesSystem = levels[0] === "#" || levels[0] === "+";
  return (topic) => {
    // [MQTT-4.7.2-1]: a leading wildcard does not match a topic that begins with $.
    if (hidesSystem && topic.startsWith("$")) return false;
    let at = 0;
    for (const level of levels) {
      // `#` also matches the parent level: sport/# matches sport.
      if (level === "#") return true;
      if (at > topic.length) return false;
      const slash = topic.indexOf("/", at);
      const end = slash < 0 ? topic.length : slash;
      if (level !== "+" && !(level.length === end - at && topic.startsWith(level, at))) return false;
      at = end + 1;
    }
    return at > topic.length;
  };
}

export function hasMoreLevels(topic: string, maximum: number): boolean {
  // A shorter text cannot have that many separators.
  if (topic.length < maximum) return false;
  return countLevels(topic) > maximum;
}

export function countLevels(topic: string): number {
  let count = 1;
  for (let at = topic.indexOf("/"); at >= 0; at = topic.indexOf("/", at + 1)) count++;
  return count;
}
