import type { ReactNode, RefCallback, RefObject } from "react";
import { type ElementProps, joinedClasses } from "./panel.tsx";
import styles from "./plot-card.module.css";

/** A raised box on a page of boxes. */
export function Card({ as: Tag = "section", className, ...rest }: ElementProps & { readonly as?: "section" | "article" }) {
  return <Tag {...rest} className={joinedClasses(styles.card, className)} />;
}

interface LegendKeyProps {
  /** A CSS colour. */
  readonly color: string;
  readonly value?: string | undefined;
  readonly children: ReactNode;
}

/** A series of a plot: its colour and name, and a value. */
export function LegendKey({ color, value, children }: LegendKeyProps) {
  return (
    <span className={styles.key}>
      <Swatch color={color} />
      {children}
      {value !== undefined && <b>{value}</b>}
    </span>
  );
}

export const Swatch = ({ color }: Pick<LegendKeyProps, "color">) => <span className={styles.swatch} style={{ background: color }} />;

interface PlotBoxProps {
  /** Of `usePlot`. */
  readonly box: RefObject<HTMLDivElement | null> | RefCallback<HTMLDivElement>;
  /** What the plot shows, for screen readers. */
  readonly label: string;
  readonly className?: string | undefined;
}

/** The plot fills the remaining height. */
export const PlotBox = ({ box, label, className }: PlotBoxProps) => (
  <div className={joinedClasses(styles.plot, className)} ref={box} role="img" aria-label={label} />
);
