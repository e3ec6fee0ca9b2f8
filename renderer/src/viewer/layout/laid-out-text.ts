/** Text laid out for the viewer: what is shown, how it is coloured and folded, and what was left out. */

import { hiddenCharacters } from "../../ui/texts/shown-text.ts";
import type { ImageSize } from "../image-size.ts";

export const markKinds = ["key", "string", "number", "literal", "punctuation", "invalid", "comment"] as const;
export type MarkKind = (typeof markKinds)[number];

/** An image that is drawn above the line that begins at `at`. */
export interface LaidOutImage {
  readonly at: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly size: ImageSize;
}

export interface LaidOutText {
  readonly text: string;
  /** Triples: from, to, index in `markKinds`; in order. */
  readonly marks: Uint32Array;
  /** Pairs: the hidden range of a fold, from the end of its first line to the start of its closing token; ordered by `from`. */
  readonly folds: Uint32Array;
  /** Positions of line ends that the content does not have: a long line is wrapped. */
  readonly softBreaks: Uint32Array;
  /** In order. */
  readonly images?: readonly LaidOutImage[];
  /** For hex: the offset of a line's first byte is shown in place of its number. */
  readonly hex?: { readonly bytesInLine: number; readonly digits: number };
  /** For a comparison: 0 same, 1 added, 2 removed, one for each line. */
  readonly changes?: Uint8Array;
  /** For a comparison with removed lines: the number of each line in the newer content; 0 beside a removed one and a piece that goes on. */
  readonly lineNumbers?: Uint32Array;
  /** Only the start of the layout is there. */
  readonly isShortened?: boolean;
  /** Notes on what is not shown as requested, or not at all. */
  readonly notes: readonly string[];
}

/**
 * Limits of the layout for any content: indentation grows with depth, and lines with tokens. Within these limits a browser shows the
 * text without delay; Copy and Save have all of the content.
 */
export const layoutBounds = {
  /** Deeper containers are left on one line. */
  depth: 200,
  /** Deeper lines are indented no further. */
  indentLevels: 40,
  characters: 4_000_000,
  lines: 200_000,
  /** A longer line is wrapped. */
  lineCharacters: 5_000,
  /** So is a line with more of them: the viewer draws a widget for each hidden character of the lines in sight. */
  lineHiddenCharacters: 40,
  /** And one with more coloured pieces, each of which is an element. */
  lineMarks: 100,
  /** After this many coloured pieces the rest has one colour. */
  marks: 250_000,
  hexBytes: 512 * 1_024,
  images: 50,
} as const;

/** A growing list of integers in a typed array. */
class NumberList {
  length = 0;
  private numbers = new Uint32Array(1_024);

  push(...values: readonly number[]): void {
    if (this.length + values.length > this.numbers.length) {
      const larger = new Uint32Array(this.numbers.length * 2);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    for (const value of values) this.numbers[this.length++] = value;
  }

  toArray(): Uint32Array {
    return this.numbers.slice(0, this.length);
  }
}

/** Appends text in pieces, within the bounds. */
export class TextLayout {
  length = 0;
  lines = 1;
  /** Nothing more is appended. */
  isFull = false;
  private lineStart = 0;
  /** Hidden characters of the last line. */
  private lineHidden = 0;
  /** Coloured pieces of it. */
  private lineMarks = 0;
  private readonly parts: string[] = [];
  private readonly marks = new NumberList();
  private readonly folds: (readonly [from: number, to: number])[] = [];
  private readonly softBreaks = new NumberList();
  private readonly images: LaidOutImage[] = [];
  private readonly notes = new Set<string>();

  get lineLength(): number {
    return this.length - this.lineStart;
  }

  note(text: string): void {
    this.notes.add(text);
  }

  add(text: string, kind?: MarkKind): void {
    const hidden = plain.test(text) ? undefined : text.matchAll(anyHidden);
    const nextHidden = () => hidden?.next().value?.index ?? Number.POSITIVE_INFINITY;
    let hiddenAt = nextHidden();
    for (let at = 0; at < text.length && !this.isFull; ) {
      const hasRoom = kind === undefined || this.lineMarks < layoutBounds.lineMarks;
      const room = hasRoom ? layoutBounds.lineCharacters - this.lineLength : 0;
      let end = room > 0 ? pieceEnd(text, at, room) : at;
      for (; hiddenAt < end && this.lineHidden < layoutBounds.lineHiddenCharacters; hiddenAt = nextHidden()) this.lineHidden++;
      end = Math.min(end, hiddenAt);
      if (end === at) {
        this.softBreaks.push(this.length);
        this.note("Long lines are shown in pieces.");
        this.breakLine();
        continue;
      }
      this.put(end - at === text.length ? text : text.slice(at, end), kind);
      at = end;
    }
  }

  private put(piece: string, kind: MarkKind | undefined): void {
    if (this.length + piece.length > layoutBounds.characters) {
      this.fill();
      return;
    }
    if (kind !== undefined && this.marks.length < layoutBounds.marks * 3) {
      this.marks.push(this.length, this.length + piece.length, markKinds.indexOf(kind));
      this.lineMarks++;
    }
    this.parts.push(piece);
    this.length += piece.length;
  }

  /** A new line, indented by the given levels. */
  breakLine(levels = 0): void {
    if (this.isFull) return;
    const indent = indents[Math.min(levels, layoutBounds.indentLevels)] ?? "";
    if (this.lines >= layoutBounds.lines || this.length + indent.length >= layoutBounds.characters) {
      this.fill();
      return;
    }
    this.parts.push("\n", indent);
    this.length += 1 + indent.length;
    this.lineStart = this.length - indent.length;
    this.lineHidden = 0;
    this.lineMarks = 0;
    this.lines++;
  }

  private fill(): void {
    this.isFull = true;
    this.note("Only the start is shown: the layout is too long. Copy and Save have all of it.");
  }

  /** Draws an image above the last line, while there is room for one. */
  addImage(bytes: Uint8Array<ArrayBuffer>, size: ImageSize): void {
    if (this.images.length < layoutBounds.images) this.images.push({ at: this.lineStart, bytes, size });
    else this.note(`The first ${layoutBounds.images} images are shown.`);
  }

  /** Makes the text between two positions foldable, if they are on different lines. */
  fold(from: number, to: number): void {
    if (to > from) this.folds.push([from, to]);
  }

  finish(rest: Pick<LaidOutText, "hex"> = {}): LaidOutText {
    return {
      text: this.parts.join(""),
      marks: this.marks.toArray(),
      folds: Uint32Array.from(this.folds.sort(([a], [b]) => a - b).flat()),
      softBreaks: this.softBreaks.toArray(),
      notes: [...this.notes],
      ...(this.images.length > 0 && { images: this.images }),
      ...(this.isFull && { isShortened: true }),
      ...rest,
    };
  }
}

/** Most texts, which need no search for hidden characters. */
const plain = /^[\t\x20-\x7e]*$/;
const anyHidden = new RegExp(hiddenCharacters);

const indents = Array.from({ length: layoutBounds.indentLevels + 1 }, (_, level) => "  ".repeat(level));

/** Never between the two halves of a surrogate pair. */
function pieceEnd(text: string, at: number, room: number): number {
  const end = at + room;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff && room > 1 ? end - 1 : end;
}

/** The text with only the content's own line ends. */
export function withoutSoftBreaks(text: string, softBreaks: Uint32Array, from = 0): string {
  const first = softBreaks.findIndex((position) => position >= from);
  if (first < 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (let index = first; index < softBreaks.length; index++) {
    const position = (softBreaks[index] ?? 0) - from;
    if (position >= text.length) break;
    pieces.push(text.slice(at, position));
    at = position + 1;
  }
  return pieces.join("") + text.slice(at);
}

/** Unchanged text, with its own lines. */
export function layOutPlain(text: string): LaidOutText {
  const layout = new TextLayout();
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  for (let at = 0; !layout.isFull; ) {
    const newLine = lines.indexOf("\n", at);
    layout.add(lines.slice(at, newLine < 0 ? lines.length : newLine));
    at = newLine + 1;
    // The last line end does not begin another line.
    if (newLine < 0 || at >= lines.length) break;
    layout.breakLine();
  }
  return layout.finish();
}
