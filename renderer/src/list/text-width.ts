/** Widths of columns come from their widest value, measured once in the font that shows it. */

const widths = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

/** Width in pixels, rounded up. `font` is a CSS font shorthand. */
export function textWidthPx(text: string, font: string): number {
  const key = `${font}\n${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text.length * 8;
  context.font = font;
  const width = Math.ceil(context.measureText(text).width);
  widths.set(key, width);
  return width;
}

/** Once the fonts are there, all widths are measured anew. */
export function forgetTextWidths(): void {
  widths.clear();
}
