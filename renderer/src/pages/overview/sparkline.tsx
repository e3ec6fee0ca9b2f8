import { useEffect, useRef } from "react";
import { useTokens } from "../../ui/theme.ts";
import type { Tokens } from "../../ui/theme-tokens.ts";
import styles from "./service-card.module.css";

interface SparklineProps {
  readonly values: readonly number[];
  /** Number of values over the whole width; fewer end at the right. */
  readonly capacity: number;
  readonly color: keyof Tokens;
  readonly label: string;
}

/** The newest values, above a baseline; a dashed line if there are none. */
export function Sparkline({ values, capacity, color, label }: SparklineProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const tokens = useTokens();
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const colors = { line: tokens[color] ?? "", base: tokens["--bl-line-strong"] ?? "" };
    const paint = () => draw(element, values, capacity, colors);
    const resize = new ResizeObserver(paint);
    resize.observe(element);
    paint();
    return () => resize.disconnect();
  }, [values, capacity, color, tokens]);
  return <canvas ref={canvas} className={styles.sparkline} role="img" aria-label={label} />;
}

function draw(canvas: HTMLCanvasElement, values: readonly number[], capacity: number, colors: { line: string; base: string }): void {
  const ratio = devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context || width === 0) return;
  context.scale(ratio, ratio);
  const base = height - 0.5;
  context.strokeStyle = colors.base;
  context.setLineDash(values.length > 0 ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(0, base);
  context.lineTo(width, base);
  context.stroke();
  if (values.length < 2) return;

  const top = Math.max(1, ...values) * 1.12;
  const step = width / (capacity - 1);
  const left = width - step * (values.length - 1);
  const trace = () => {
    context.beginPath();
    for (const [index, value] of values.entries()) context.lineTo(left + index * step, base - (value / top) * (height - 2));
  };
  context.setLineDash([]);
  trace();
  context.lineTo(width, base);
  context.lineTo(left, base);
  context.globalAlpha = 0.12;
  context.fillStyle = colors.line;
  context.fill();
  context.globalAlpha = 1;
  trace();
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.strokeStyle = colors.line;
  context.stroke();
}
