export interface TextLine {
  /** The first is 1. */
  readonly line: number;
  readonly text: string;
}

/** Splits text that arrives in pieces into lines; a line longer than `longest` characters is emitted in parts, so that memory stays bounded. */
export function createLineReader(longest = 1 << 20) {
  let rest = "";
  let line = 0;
  const given = (text: string): TextLine[] => {
    line += 1;
    const trimmed = text.trim();
    return trimmed === "" ? [] : [{ line, text: trimmed }];
  };
  return {
    read(text: string): TextLine[] {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      const found = lines.flatMap(given);
      if (rest.length > longest) {
        found.push(...given(rest));
        rest = "";
      }
      return found;
    },
    end(): TextLine[] {
      const found = given(rest);
      rest = "";
      return found;
    },
  };
}
