import { standardKeymap } from "@codemirror/commands";
import { codeFolding, foldGutter, foldKeymap, foldService } from "@codemirror/language";
import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorSelection, EditorState, type Extension, StateEffect, StateField, Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  GutterMarker,
  gutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from "react";
import { escaped, hiddenCharacters } from "../ui/texts/shown-text.ts";
import styles from "./code-view.module.css";
import { imageWidgets } from "./image-widgets.ts";
import { type LaidOutText, type MarkKind, markKinds, withoutSoftBreaks } from "./layout/laid-out-text.ts";
import { createSearchPanel } from "./search-panel.ts";

export interface CodeViewHandle {
  openSearch(): void;
}

interface CodeViewProps {
  /** Names the text for a screen reader. */
  readonly label: string;
  readonly laidOut: LaidOutText;
  readonly wrap: boolean;
  readonly ref?: Ref<CodeViewHandle>;
}

/** Laid out text in a read-only editor: selection over lines, search, folding; only the lines in sight are in the page. */
export function CodeView({ label, laidOut, wrap, ref }: CodeViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const wrapping = useRef(new Compartment());
  const first = useEffectEvent(() => ({ laidOut, wrap }));

  useEffect(() => {
    if (!host.current) return;
    const shown = first();
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: documentOf(shown.laidOut),
        extensions: [wrapping.current.of(shown.wrap ? EditorView.lineWrapping : []), extensions(shown.laidOut)],
      }),
    });
    editor.current = view;
    return () => {
      view.destroy();
      editor.current = null;
    };
  }, []);

  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.field(laidOutField) === laidOut) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: documentOf(laidOut) },
      selection: EditorSelection.cursor(0),
      effects: showLaidOut.of(laidOut),
    });
  }, [laidOut]);

  useEffect(() => {
    editor.current?.dispatch({ effects: wrapping.current.reconfigure(wrap ? EditorView.lineWrapping : []) });
  }, [wrap]);

  useImperativeHandle(ref, () => ({ openSearch: () => editor.current && openSearchPanel(editor.current) }), []);
  return <section ref={host} className={styles.well} aria-label={label} />;
}

/** Split here: the editor would also split at other line ends, which the layout has already handled. */
const documentOf = ({ text }: LaidOutText): Text => Text.of(text.split("\n"));

const showLaidOut = StateEffect.define<LaidOutText>();
const nothing: LaidOutText = { text: "", marks: new Uint32Array(), folds: new Uint32Array(), softBreaks: new Uint32Array(), notes: [] };
const laidOutField = StateField.define<LaidOutText>({
  create: () => nothing,
  update: (value, transaction) => transaction.effects.find((effect) => effect.is(showLaidOut))?.value ?? value,
});

function extensions(laidOut: LaidOutText): Extension {
  return [
    laidOutField.init(() => laidOut),
    EditorState.readOnly.of(true),
    // Not editable for the browser: no spell check, no drop. The keyboard works as in any text.
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "Text, read-only", "aria-readonly": "true" }),
    EditorView.editorAttributes.of(({ state }) => ({ class: state.field(laidOutField).lineNumbers ? (styles.compared ?? "") : "" })),
    lineNumbers({ formatNumber: marginText }),
    changeGutter,
    codeFolding({ placeholderText: "…" }),
    foldGutter({ openText: "▾", closedText: "▸" }),
    foldService.of(foldAt),
    drawSelection(),
    highlightSpecialChars({ specialChars: hiddenCharacters, render: hiddenCharacter }),
    search({ top: true, createPanel: createSearchPanel }),
    colours,
    imageWidgets(laidOutField),
    EditorView.clipboardOutputFilter.of(copied),
    keymap.of([...searchKeymap, ...foldKeymap, ...standardKeymap]),
  ];
}

/** A number for each line of the content, or the offset of a line of bytes; empty for a removed line and for a continued line. */
function marginText(line: number, state: EditorState): string {
  const { hex, softBreaks, lineNumbers } = state.field(laidOutField);
  const isBeyond = line > state.doc.lines;
  const number = lineNumbers && !isBeyond ? (lineNumbers[line - 1] ?? 0) : line;
  if (number === 0) return "";
  if (hex) return ((number - 1) * hex.bytesInLine).toString(16).padStart(hex.digits, "0");
  if (isBeyond || lineNumbers) return String(number);
  const before = countBelow(softBreaks, state.doc.line(line).from);
  const isPiece = before > 0 && softBreaks[before - 1] === state.doc.line(line).from - 1;
  return isPiece ? "" : String(line - before);
}

/** The number of values below the given one, in an ordered list. */
function countBelow(numbers: Uint32Array, limit: number, step = 1): number {
  let low = 0;
  let high = numbers.length / step;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle * step] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first fold that begins on the line. */
function foldAt(state: EditorState, lineStart: number, lineEnd: number): { from: number; to: number } | null {
  const { folds } = state.field(laidOutField);
  const pair = countBelow(folds, lineStart, 2) * 2;
  const from = folds[pair];
  const to = folds[pair + 1];
  return from === undefined || to === undefined || from > lineEnd || to <= lineEnd ? null : { from, to };
}

function copied(text: string, state: EditorState): string {
  const { softBreaks } = state.field(laidOutField);
  const { from, empty } = state.selection.main;
  return softBreaks.length === 0 || empty || state.selection.ranges.length > 1 ? text : withoutSoftBreaks(text, softBreaks, from);
}

const markDecorations = markKinds.map((kind: MarkKind) => Decoration.mark({ class: styles[kind] ?? "" }));

class ChangeWord extends WidgetType {
  readonly word: string;
  constructor(word: string) {
    super();
    this.word = word;
  }
  override eq(other: ChangeWord): boolean {
    return other.word === this.word;
  }
  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = "visually-hidden";
    element.textContent = `${this.word}: `;
    return element;
  }
}

const changed = [
  undefined,
  { line: Decoration.line({ class: styles.added ?? "" }), word: Decoration.widget({ widget: new ChangeWord("added"), side: -1 }) },
  { line: Decoration.line({ class: styles.removed ?? "" }), word: Decoration.widget({ widget: new ChangeWord("removed"), side: -1 }) },
] as const;

/** Escaped, as everywhere on the page: \u202e. */
function hiddenCharacter(code: number, description: string | null): HTMLElement {
  const element = document.createElement("span");
  element.className = styles.hidden ?? "";
  element.textContent = escaped(String.fromCodePoint(code));
  element.title = description ?? "";
  return element;
}

/** Colours and change marks of the visible text. */
const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorationsOf(view);
    }
    update(update: ViewUpdate) {
      if (update.docChanged || update.viewportChanged) this.decorations = decorationsOf(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function decorationsOf(view: EditorView): DecorationSet {
  const { marks, changes } = view.state.field(laidOutField);
  const { doc } = view.state;
  const ranges = [];
  let lastLine = 0;
  for (const { from, to } of view.visibleRanges) {
    if (changes) {
      // A long line may be visible in several ranges.
      for (let number = Math.max(lastLine + 1, doc.lineAt(from).number); number <= doc.lines; number++) {
        const line = doc.line(number);
        if (line.from > to) break;
        lastLine = number;
        const change = changed[changes[number - 1] ?? 0];
        if (change) ranges.push(change.line.range(line.from), change.word.range(line.from));
      }
    }
    // A mark that began before the range may reach into it; marks do not overlap.
    for (let mark = Math.max(0, countBelow(marks, from, 3) - 1) * 3; mark < marks.length; mark += 3) {
      const [start = 0, end = 0, kind = 0] = [marks[mark], marks[mark + 1], marks[mark + 2]];
      if (start >= to) break;
      const decoration = markDecorations[kind];
      if (end > from && end <= doc.length && decoration) ranges.push(decoration.range(start, end));
    }
  }
  return Decoration.set(ranges, true);
}

class SignMarker extends GutterMarker {
  readonly sign: string;
  override elementClass: string;
  constructor(sign: string, name: string | undefined) {
    super();
    this.sign = sign;
    this.elementClass = name ?? "";
  }
  override toDOM(): Node {
    return document.createTextNode(this.sign);
  }
}
const signs = [undefined, new SignMarker("+", styles.added), new SignMarker("−", styles.removed)] as const;

/** + and − beside lines that changed. */
const changeGutter = gutter({
  class: styles.signs ?? "",
  lineMarker: (view, line) => {
    const { changes } = view.state.field(laidOutField);
    return (changes && signs[changes[view.state.doc.lineAt(line.from).number - 1] ?? 0]) ?? null;
  },
  lineMarkerChange: (update) => update.docChanged,
});
