import { type RefObject, useLayoutEffect, useMemo, useState } from "react";
import { type Column, type FittedColumns, fitColumns, isSortable } from "./column.ts";

/** Widths of columns come from their widest value, measured once in the font that shows it. */

const widths = new Map<string, number>();
/** Not a canvas, which has no tabular figures: with them a hyphen is wider, too. */
let ruler: HTMLElement | undefined;

function createRuler(): HTMLElement {
  const element = document.createElement("span");
  element.style.cssText = "position: fixed; visibility: hidden; white-space: pre";
  element.ariaHidden = "true";
  return element;
}

/** Width in pixels, rounded up. `font` is a CSS font shorthand. */
function textWidthPx(text: string, font: string): number {
  const key = `${font}\n${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ruler ??= document.body.appendChild(createRuler());
  ruler.style.font = font;
  // The shorthand resets it.
  ruler.style.fontVariantNumeric = "tabular-nums";
  ruler.textContent = text;
  const width = Math.ceil(ruler.getBoundingClientRect().width);
  widths.set(key, width);
  return width;
}

/** Width of a character of the fixed-width font, as paths are shown in. */
export const monoCharacterPx = (): number => textWidthPx("0".repeat(rulerCharacters), fonts.mono) / rulerCharacters;

/** After the fonts were loaded, all widths are measured again. */
function forgetTextWidths(): void {
  widths.clear();
}

/** As in the style of the columns. */
const leastBesideBarPx = 8;

const fonts = {
  text: "400 12px Inter, system-ui, sans-serif",
  mono: "400 12px 'Fira Mono', ui-monospace, monospace",
  "mono-bold": "500 12px 'Fira Mono', ui-monospace, monospace",
} as const;
/** The width of one character is a fraction of a pixel. */
const rulerCharacters = 100;
const sortArrowPx = 15;
const headFont = "500 11px Inter, system-ui, sans-serif";

export interface MeasuredColumns<Row> extends FittedColumns<Row> {
  /** Characters of the fixed-width font that fit in a filling column. */
  readonly fillCh: number;
}

/** The columns that fit the element; measured again when its width changes or the fonts were loaded. */
export function useFittedColumns<Row>(element: RefObject<HTMLElement | null>, columns: readonly Column<Row>[]): MeasuredColumns<Row> {
  const [roomPx, setRoomPx] = useState(0);
  const [fontsKnown, setFontsKnown] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = () => {
      // The scroll bar is in the gutter, so that the last column ends where the toolbar does, or a little before the bar.
      const barPx = observed.offsetWidth - observed.clientWidth;
      const gutterPx = Number.parseFloat(getComputedStyle(observed).getPropertyValue("--bl-gutter"));
      observed.style.setProperty("--scroll-bar", `${barPx}px`);
      setRoomPx(observed.clientWidth - gutterPx - Math.max(leastBesideBarPx, gutterPx - barPx));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(observed);
    measure();
    return () => observer.disconnect();
  }, [element]);
  useLayoutEffect(() => {
    let mounted = true;
    void document.fonts.ready.then(() => {
      forgetTextWidths();
      if (mounted) setFontsKnown((times) => times + 1);
    });
    return () => {
      mounted = false;
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: widths change when the fonts are loaded.
  return useMemo(() => {
    const fitted = fitColumns(columns, roomPx, columnWidthPx);
    return { ...fitted, fillCh: Math.floor(fitted.fillPx / monoCharacterPx()) };
  }, [columns, roomPx, fontsKnown]);
}

/**
 * The columns, one of them as wide as its longest text in these rows, which is in a fixed-width font: times of today need less room than
 * those with a date.
 */
export function useWidthOfRows<Row>(
  columns: readonly Column<Row>[],
  id: string,
  rows: readonly Row[],
  textOf: (row: Row) => string,
): readonly Column<Row>[] {
  const longest = useMemo(() => {
    const text = rows.map(textOf).reduce((known, each) => (each.length > known.length ? each : known), "");
    return text.replace(/\d/g, "0");
  }, [rows, textOf]);
  return useMemo(() => columns.map((column) => (column.id === id ? { ...column, minSample: longest } : column)), [columns, id, longest]);
}

function columnWidthPx<Row>(column: Column<Row>): number {
  const text = textWidthPx(column.minSample ?? "", fonts[column.face ?? "text"]) + (column.besidePx ?? 0);
  return Math.max(text, textWidthPx(column.title, headFont) + (isSortable(column) ? sortArrowPx : 0));
}
