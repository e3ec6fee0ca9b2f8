import { type RefObject, useLayoutEffect, useMemo, useState } from "react";
import { type Column, type FittedColumns, fitColumns } from "./column.ts";
import { forgetTextWidths, textWidthPx } from "./text-width.ts";

const gutterPx = 20;

const fonts = {
  text: "400 12px Inter, system-ui, sans-serif",
  mono: "400 12px 'Fira Mono', ui-monospace, monospace",
  "mono-bold": "500 12px 'Fira Mono', ui-monospace, monospace",
} as const;
const sortArrowPx = 15;
const headFont = "500 11px Inter, system-ui, sans-serif";

/** The columns that fit the element, measured anew when its width changes or the fonts arrive. */
export function useFittedColumns<Row>(element: RefObject<HTMLElement | null>, columns: readonly Column<Row>[]): FittedColumns<Row> {
  const [roomPx, setRoomPx] = useState(0);
  const [fontsKnown, setFontsKnown] = useState(0);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const measure = () => {
      // The scroll bar stands in the gutter, so that the last column ends where the toolbar does.
      const barPx = observed.offsetWidth - observed.clientWidth;
      observed.style.setProperty("--scroll-bar", `${barPx}px`);
      setRoomPx(observed.offsetWidth - 2 * gutterPx);
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: widths differ once the fonts are there.
  return useMemo(() => fitColumns(columns, roomPx, columnWidthPx), [columns, roomPx, fontsKnown]);
}

function columnWidthPx<Row>(column: Column<Row>): number {
  const text = textWidthPx(column.widest ?? "", fonts[column.face ?? "text"]) + (column.besidePx ?? 0);
  return Math.max(text, textWidthPx(column.title, headFont) + (column.sortable ? sortArrowPx : 0));
}
