const anyBreak = /\r\n?|\n/g;

/** As a text field has it: it knows one kind of line break only. */
export const withPlainBreaks = (text: string): string => text.replace(anyBreak, "\n");

/**
 * The text of a field that had this text before the change, with the line breaks that the lines had: a multipart body has CRLF between its
 * parts, and its files may have LF. A new line ends like the one before it.
 */
export function withBreaksOf(before: string, edited: string): string {
  if (!before.includes("\r")) return edited;
  const breaks = before.match(anyBreak) ?? [];
  const plain = withPlainBreaks(before);
  const shorter = Math.min(plain.length, edited.length);
  let start = 0;
  while (start < shorter && plain[start] === edited[start]) start++;
  let end = 0;
  while (end < shorter - start && plain.at(-1 - end) === edited.at(-1 - end)) end++;
  const atStart = breaksIn(edited.slice(0, start));
  const atEnd = breaksIn(edited.slice(edited.length - end));
  const lines = edited.split("\n");
  const last = lines.length - 1;
  return lines
    .map((line, index) => {
      if (index === last) return line;
      const same = index < atStart ? index : index >= last - atEnd ? breaks.length - (last - index) : Math.max(0, atStart - 1);
      return line + (breaks[same] ?? "\n");
    })
    .join("");
}

const breaksIn = (text: string): number => text.split("\n").length - 1;
