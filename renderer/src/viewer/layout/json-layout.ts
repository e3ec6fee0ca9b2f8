import { JsonScanner } from "./json-tokens.ts";
import { type LaidOutText, layoutBounds, TextLayout } from "./laid-out-text.ts";

/** Containers of plain values stay on one line up to this many characters. */
const inlineCharacters = 60;

const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const isOpening = (code: number) => code === openBrace || code === openBracket;
const isClosing = (code: number) => code === closeBrace || code === closeBracket;

export interface JsonLayoutOptions {
  /** One member per line, also in short containers, so that each change between two messages is on its own line. */
  readonly expanded?: boolean;
}

/** JSON with line breaks, indented by two spaces; a truncated body is laid out as far as it goes. */
export function layOutJson(text: string, { expanded = false }: JsonLayoutOptions = {}): LaidOutText {
  const layout = new TextLayout();
  const scanner = new JsonScanner(text);
  /** Where the content of each open container begins; only as deep as is laid out. */
  const opened: number[] = [];
  let depth = 0;
  let isFirst = true;
  /** Outside of all containers each value has its own line: JSON lines. */
  let needsOwnLine = false;

  const breakLine = () => {
    if (depth <= layoutBounds.depth) layout.breakLine(depth);
  };

  while (!layout.isFull && scanner.next()) {
    const code = scanner.first;
    const isMark = scanner.kind === "punctuation";
    const joins = isMark && (code === comma || code === colon);
    if (needsOwnLine && !joins) layout.breakLine();
    needsOwnLine = false;
    if (isMark && isOpening(code)) {
      const inline = inlineEnd(text, scanner.start, expanded);
      // A body that is one container is laid out even if it is short.
      const isWhole = isFirst && inline !== undefined && !inline.isEmpty && !new JsonScanner(text, inline.end).next();
      if (inline && !isWhole) {
        addInline(layout, text, scanner.start, inline.end);
        scanner.end = inline.end;
      } else {
        layout.add(scanner.token, "punctuation");
        depth++;
        if (depth <= layoutBounds.depth) opened.push(layout.length);
        else layout.note(`Shown to depth ${layoutBounds.depth}; what is deeper is on one line.`);
        breakLine();
      }
    } else if (isMark && isClosing(code)) {
      const wasLaidOut = depth <= layoutBounds.depth;
      depth = Math.max(0, depth - 1);
      if (wasLaidOut) layout.breakLine(depth);
      const from = wasLaidOut ? opened.pop() : undefined;
      if (from !== undefined) layout.fold(from, layout.length);
      layout.add(scanner.token, "punctuation");
    } else {
      layout.add(scanner.token, scanner.kind);
      if (isMark && code === comma) {
        if (depth <= layoutBounds.depth) breakLine();
        else layout.add(" ");
      } else if (isMark && code === colon) layout.add(" ");
    }
    needsOwnLine = depth === 0 && !joins;
    isFirst = false;
  }
  return layout.finish();
}

/** The end of a container of plain values, if it is short enough for one line; an empty one always is. */
function inlineEnd(text: string, start: number, expanded: boolean): { readonly end: number; readonly isEmpty: boolean } | undefined {
  const close = text.charCodeAt(start) === openBrace ? closeBrace : closeBracket;
  const scanner = new JsonScanner(text, start + 1);
  let characters = 2;
  for (let isEmpty = true; scanner.next(); isEmpty = false) {
    if (scanner.kind === "punctuation") {
      if (scanner.first === close) return expanded && !isEmpty ? undefined : { end: scanner.end, isEmpty };
      if (scanner.first !== comma && scanner.first !== colon) return undefined;
    }
    characters += scanner.end - scanner.start + 1;
    if (expanded || characters > inlineCharacters) return undefined;
  }
  return undefined;
}

/** `{ "sku": "KB-101", "qty": 2 }` and `["a", "b"]` */
function addInline(layout: TextLayout, text: string, start: number, end: number): void {
  const scanner = new JsonScanner(text, start);
  const isObject = text.charCodeAt(start) === openBrace;
  let previousOpens = false;
  for (let count = 0; scanner.next() && scanner.start < end; count++) {
    const isMark = scanner.kind === "punctuation";
    const closes = isMark && isClosing(scanner.first);
    const opens = count === 0;
    if (isObject && !opens && (previousOpens ? !closes : closes)) layout.add(" ");
    layout.add(scanner.token, scanner.kind);
    if (isMark && (scanner.first === comma || scanner.first === colon)) layout.add(" ");
    previousOpens = opens;
  }
}
