/** One part of a pattern in RE2 syntax. */
const parts =
  /\\[pPx]\{[^}]{0,60}\}|\\[pP].|\\x[\da-fA-F]{2}|\\.|\{(\d{1,9})(,?)(\d{0,9})\}\??|\(\?[a-zA-Z-]{0,10}\)|\(\?(?:P?<\w{1,60}>|[a-zA-Z-]{0,10}:)|\[\^?\]?|[*+?]\??|./suy;
/** One part between the brackets of a class. */
const partsOfClass = /\[:\^?[a-z]{1,10}:\]|\\.|./suy;

interface Group {
  /** Of the alternatives that are complete, and of the one that is not. */
  before: number;
  size: number;
  /** Of the part that a repeat behind it is about. */
  last: number;
  /** An alternative was one character: all of these are one class. */
  hasSingle: boolean;
  readonly captures: boolean;
}

const newGroup = (captures: boolean): Group => ({ before: 0, size: 0, last: 0, hasSingle: false, captures });

function endAlternative(group: Group): void {
  const isSingle = group.size === 1;
  group.before += isSingle && group.hasSingle ? 0 : group.size + 1;
  group.hasSingle ||= isSingle;
  group.size = 0;
  group.last = 0;
}

/**
 * About how many instructions RE2 makes of a pattern, without making them: counted repeats multiply what they repeat. Where alternatives begin alike
 * it makes fewer. Of a text that is no pattern it is any number.
 */
export function sizeOfPattern(text: string): number {
  const groups: Group[] = [];
  let group = newGroup(false);
  const add = (size: number) => {
    group.size += size;
    group.last = size;
  };
  for (let at = 0; at < text.length; ) {
    parts.lastIndex = at;
    const [part = "", least, comma, most] = parts.exec(text) ?? [];
    at += part.length || 1;
    if (part === "\\Q") {
      const end = text.indexOf("\\E", at);
      const quoted = end < 0 ? text.slice(at) : text.slice(at, end);
      for (const _ of quoted) add(1);
      at += quoted.length + (end < 0 ? 0 : 2);
    } else if (part.startsWith("[")) {
      for (let inner = ""; inner !== "]" && at < text.length; at += inner.length || 1) {
        partsOfClass.lastIndex = at;
        inner = partsOfClass.exec(text)?.[0] ?? "";
      }
      add(1);
    } else if (part.startsWith("(") && part.endsWith(")")) group.last = 0;
    else if (part.startsWith("(")) {
      groups.push(group);
      group = newGroup(part === "(" || part.endsWith(">"));
    } else if (part === ")") {
      endAlternative(group);
      const size = group.before - 1 + (group.captures ? 2 : 0);
      group = groups.pop() ?? newGroup(false);
      add(size);
    } else if (part === "|") endAlternative(group);
    else if (least !== undefined) {
      const repeated = group.last;
      const times = most ? Number(most) : Number(least);
      // Each repeat that may be left out is one more.
      const optional = comma === "" ? 0 : most ? Math.max(0, Number(most) - Number(least)) : 1;
      group.size += repeated * times + optional - repeated;
      group.last = repeated * times + optional;
    } else if (/^[*+?]/.test(part)) {
      group.size++;
      group.last++;
    } else add(1);
  }
  endAlternative(group);
  return group.before - 1;
}
