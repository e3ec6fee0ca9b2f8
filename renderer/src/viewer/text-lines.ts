/** A line is shown in pieces of this many characters: one that is a megabyte long would stop the page. */
export const pieceCharacters = 1_000;

export interface TextLine {
  /** Counted from 1; undefined where the piece goes on from the one before. */
  readonly number: number | undefined;
  readonly text: string;
}

export function textLines(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let number = 0;
  for (const whole of text.replace(/\r?\n$/, "").split(/\r\n|\n|\r/)) {
    number++;
    for (let at = 0; at === 0 || at < whole.length; at += pieceCharacters) {
      lines.push({ number: at === 0 ? number : undefined, text: whole.slice(at, at + pieceCharacters) });
    }
  }
  return lines;
}
