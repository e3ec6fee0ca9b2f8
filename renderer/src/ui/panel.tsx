import type { HTMLAttributes, ReactNode } from "react";
import styles from "./panel.module.css";
import { shownText } from "./texts/shown-text.ts";

interface ElementProps extends Omit<HTMLAttributes<HTMLElement>, "className"> {
  readonly className?: string | undefined;
}

const classes = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(" ");

/** The first line of a panel: title, caption, then actions. `plain` has no line below it. */
export function PanelHead({ plain = false, className, ...rest }: ElementProps & { readonly plain?: boolean }) {
  return <div {...rest} className={classes(styles.head, className)} data-plain={plain || undefined} />;
}

/** The name of a page. */
export function PageTitle({ className, children }: { readonly className?: string | undefined; readonly children: ReactNode }) {
  return <h1 className={classes(styles.page, className)}>{children}</h1>;
}

/** The name of a panel or of one of its sections. */
export function SectionTitle({ as: Tag = "h2", className, ...rest }: ElementProps & { readonly as?: "h2" | "h3" }) {
  return <Tag {...rest} className={classes(styles.title, className)} />;
}

/** Secondary text beside a title, in one line; with `grow` it fills the remaining width. */
export function Caption({ grow = false, className, ...rest }: ElementProps & { readonly grow?: boolean }) {
  return <span {...rest} className={classes(styles.caption, className)} data-grow={grow || undefined} />;
}

/** A secondary paragraph. */
export function Note({ className, ...rest }: ElementProps) {
  return <p {...rest} className={classes(styles.note, className)} />;
}

/** A paragraph with a coloured background: why something failed, or what is needed. */
export function Notice({ tone, className, ...rest }: ElementProps & { readonly tone: "warn" | "bad" }) {
  return <div {...rest} className={classes(styles.notice, className)} data-tone={tone} />;
}

interface ChipProps extends ElementProps {
  readonly tone?: "warn" | "bad" | undefined;
  /** As high as a button. */
  readonly tall?: boolean;
}

/** A word in a small box: "retained". */
export function Chip({ tone, tall = false, className, ...rest }: ChipProps) {
  return <span {...rest} className={classes(styles.chip, className)} data-tone={tone} data-tall={tall || undefined} />;
}

/** Takes the space between the start and the end of a line. */
export function Spring() {
  return <span className={styles.spring} />;
}

/** Names and values in two columns; takes `Pair`s. */
export function Pairs({ className, ...rest }: ElementProps) {
  return <dl {...rest} className={classes(styles.pairs, className)} />;
}

interface PairProps {
  readonly name: string;
  readonly title?: string | undefined;
  readonly mono?: boolean;
  readonly children: ReactNode;
}

export function Pair({ name, title, mono = false, children }: PairProps) {
  return (
    <>
      <dt title={shownText(name)}>{shownText(name)}</dt>
      <dd title={title && shownText(title)} data-mono={mono || undefined}>
        {typeof children === "string" ? shownText(children) : children}
      </dd>
    </>
  );
}
