import { type LaidOutText, layoutBounds, TextLayout } from "./laid-out-text.ts";

export type MarkupKind = "xml" | "html";

/** HTML §13.1.2: elements that have no end tag. */
const voidElements = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
/** Elements whose content is kept as it is: text up to their end tag, or text in which white space counts. */
const rawElements = new Set(["script", "style", "textarea", "pre", "title"]);
/** Most open elements that are searched for a start tag; without a limit the time would grow with the depth. */
const lookBack = 16;
/** An element with nothing but text stays on one line up to this many characters. */
const inlineCharacters = 100;

interface Piece {
  readonly kind: "open" | "close" | "empty" | "text" | "other";
  readonly start: number;
  readonly end: number;
  /** Of an element. */
  readonly name: string;
}

/** XML or HTML as text, one element per line and indented; never as a document. */
export function layOutMarkup(text: string, kind: MarkupKind): LaidOutText {
  const layout = new TextLayout();
  const isHtml = kind === "html";
  const opened: { readonly name: string; readonly at: number }[] = [];
  let isEmpty = true;

  const startLine = () => {
    if (isEmpty) isEmpty = false;
    else if (opened.length <= layoutBounds.depth) layout.breakLine(opened.length);
  };

  for (let at = 0; at < text.length && !layout.isFull; ) {
    const piece = pieceAt(text, at, isHtml);
    at = piece.end;
    if (piece.kind === "text") {
      const content = text.slice(piece.start, piece.end).trim();
      if (content !== "") {
        startLine();
        addText(layout, content, opened.length);
      }
    } else if (piece.kind === "close") {
      // An end tag closes the element that it names; one that matches no open tag has its own line.
      let place = opened.length - 1;
      while (place >= 0 && opened.length - place < lookBack && opened[place]?.name !== piece.name) place--;
      const closed = opened[place]?.name === piece.name ? opened[place] : undefined;
      if (closed) opened.length = place;
      startLine();
      if (closed && place < layoutBounds.depth) layout.fold(closed.at, layout.length);
      addTag(layout, text, piece);
    } else if (piece.kind === "open") {
      startLine();
      addTag(layout, text, piece);
      const end = onOneLine(text, piece, isHtml);
      if (end) {
        layout.add(text.slice(piece.end, end.start));
        addTag(layout, text, end);
        at = end.end;
      } else if (isHtml && rawElements.has(piece.name)) at = addRaw(layout, text, piece);
      else {
        opened.push({ name: piece.name, at: layout.length });
        if (opened.length > layoutBounds.depth) layout.note(`Shown to depth ${layoutBounds.depth}; what is deeper is on one line.`);
      }
    } else {
      startLine();
      if (piece.kind === "empty") addTag(layout, text, piece);
      else addText(layout, text.slice(piece.start, piece.end), opened.length, true);
    }
  }
  return layout.finish();
}

/** The piece that begins at `at`: a tag, a comment or the like, or the text up to one. */
function pieceAt(text: string, at: number, isHtml: boolean): Piece {
  const upTo = (end: string, from: number): number => {
    const found = text.indexOf(end, from);
    return found < 0 ? text.length : found + end.length;
  };
  const other = (end: number): Piece => ({ kind: "other", start: at, end, name: "" });
  if (text[at] === "<") {
    if (text.startsWith("<!--", at)) return other(upTo("-->", at + 4));
    if (text.startsWith("<![CDATA[", at)) return other(upTo("]]>", at + 9));
    if (text.startsWith("<?", at)) return other(upTo("?>", at + 2));
    if (text.startsWith("<!", at)) return other(upTo(">", at + 2));
    const isClose = text[at + 1] === "/";
    const name = tagName(text, at + (isClose ? 2 : 1));
    if (name !== "") {
      const end = tagEnd(text, at);
      const known = isHtml ? name.toLowerCase() : name;
      if (isClose) return { kind: "close", start: at, end, name: known };
      const isEmpty = text[end - 2] === "/" || (isHtml && voidElements.has(known));
      return { kind: isEmpty ? "empty" : "open", start: at, end, name: known };
    }
  }
  const next = text.indexOf("<", at + 1);
  return { kind: "text", start: at, end: next < 0 ? text.length : next, name: "" };
}

const nameCharacters = 200;

/** Empty if no name begins there. */
function tagName(text: string, from: number): string {
  return /^[A-Za-z_:\u0080-\uffff][^\s/>"'=<]*/.exec(text.slice(from, from + nameCharacters))?.[0] ?? "";
}

/** Behind the `>` of a tag; one within a quoted value does not end it. */
function tagEnd(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return at + 1;
  }
  return text.length;
}

/** The end tag of an element that holds only a short text. */
function onOneLine(text: string, open: Piece, isHtml: boolean): Piece | undefined {
  const next = text.slice(open.end, open.end + inlineCharacters).indexOf("<");
  if (next < 0) return undefined;
  const end = pieceAt(text, open.end + next, isHtml);
  const isPlain = end.kind === "close" && end.name === open.name && !text.slice(open.end, end.start).includes("\n");
  return isPlain ? end : undefined;
}

/** Content in which white space matters or `<` is text: unchanged. Returns its end. */
function addRaw(layout: TextLayout, text: string, open: Piece): number {
  const at = findEndTag(text, open.name, open.end);
  const end = at < 0 ? text.length : at;
  const from = layout.length;
  addText(layout, text.slice(open.end, end), 0);
  layout.fold(from, layout.length);
  if (at < 0) return end;
  const close = pieceAt(text, at, true);
  addTag(layout, text, close);
  return close.end;
}

/** Case-insensitive search that does not copy the whole text in lower case for each element. */
function findEndTag(text: string, name: string, from: number): number {
  for (let at = text.indexOf("</", from); at >= 0; at = text.indexOf("</", at + 2)) {
    if (text.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  }
  return -1;
}

/** Text with its own line ends; a comment or a declaration in their colour. */
function addText(layout: TextLayout, text: string, levels: number, isComment = false): void {
  const kind = isComment ? "comment" : undefined;
  for (let at = 0; at <= text.length && !layout.isFull; ) {
    const newLine = text.indexOf("\n", at);
    const end = newLine < 0 ? text.length : newLine;
    const line = text.slice(at, end).replace("\r", "");
    layout.add(levels > 0 && at > 0 ? line.trimStart() : line, kind);
    if (newLine < 0) break;
    layout.breakLine(levels);
    at = newLine + 1;
  }
}

/** Name, attributes and values in different colours; line ends within a tag become spaces. */
function addTag(layout: TextLayout, text: string, { start, end }: Piece): void {
  let at = text[start + 1] === "/" ? start + 2 : start + 1;
  layout.add(text.slice(start, at), "punctuation");
  const name = tagName(text, at);
  layout.add(name, "key");
  at += name.length;
  while (at < end && !layout.isFull) {
    const letter = text[at] ?? "";
    const from = at;
    if (letter === '"' || letter === "'") {
      const close = text.indexOf(letter, at + 1);
      at = close < 0 || close >= end ? end : close + 1;
      layout.add(oneLine(text.slice(from, at)), "string");
    } else if (/[\s]/.test(letter)) {
      while (at < end && /\s/.test(text[at] ?? "")) at++;
      if (at < end && text[at] !== ">") layout.add(" ");
    } else if (letter === "=" || letter === "/" || letter === ">") {
      at++;
      layout.add(letter, "punctuation");
    } else {
      while (at < end && !/[\s"'=/>]/.test(text[at] ?? "")) at++;
      // A slash within an unquoted value does not end it; only the colour is wrong then.
      layout.add(text.slice(from, at), text[from - 1] === "=" ? "string" : "literal");
    }
  }
}

const oneLine = (text: string): string => (text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text);
