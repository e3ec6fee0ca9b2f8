import type { HTMLAttributes, ReactNode } from "react";
import styles from "./panel.module.css";
import { shownText, shownValue } from "./texts/shown-text.ts";

export interface ElementProps extends Omit<HTMLAttributes<HTMLElement>, "className"> {
  readonly className?: string | undefined;
}

/** The names of several classes as one. */
export const joinedClasses = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(" ");

/** The first line of a panel: title, caption, then actions. `plain` has no line below it. */
export function PanelHead({ plain = false, className, ...rest }: ElementProps & { readonly plain?: boolean }) {
  return <div {...rest} className={joinedClasses(styles.head, className)} data-plain={plain || undefined} />;
}

/** The name of a page. */
export function PageTitle({ className, children }: { readonly className?: string | undefined; readonly children: ReactNode }) {
  return <h1 className={joinedClasses(styles.page, className)}>{children}</h1>;
}

/** The first line of a page of boxes. */
export function PageHeading({ children }: { readonly children: ReactNode }) {
  return <div className={styles.heading}>{children}</div>;
}

/** The name of a panel or of one of its sections. */
export function SectionTitle({ as: Tag = "h2", className, ...rest }: ElementProps & { readonly as?: "h2" | "h3" | "h4" }) {
  return <Tag {...rest} className={joinedClasses(styles.title, className)} />;
}

/** Secondary text beside a title, in one line; with `grow` it fills the remaining width. */
export function Caption({ grow = false, className, ...rest }: ElementProps & { readonly grow?: boolean }) {
  return <span {...rest} className={joinedClasses(styles.caption, className)} data-grow={grow || undefined} />;
}

/** A secondary paragraph. */
export function Note({ className, ...rest }: ElementProps) {
  return <p {...rest} className={joinedClasses(styles.note, className)} />;
}

/** A paragraph with a coloured background: why something failed, or what is needed. */
export function Notice({ tone, className, ...rest }: ElementProps & { readonly tone: "warn" | "bad" }) {
  return <div {...rest} className={joinedClasses(styles.notice, className)} data-tone={tone} />;
}

interface ChipProps extends ElementProps {
  readonly tone?: "warn" | "bad" | undefined;
  /** As high as a button. */
  readonly tall?: boolean;
}

/** A word in a small box: "retained". */
export function Chip({ tone, tall = false, className, ...rest }: ChipProps) {
  return <span {...rest} className={joinedClasses(styles.chip, className)} data-tone={tone} data-tall={tall || undefined} />;
}

/** Chips behind a text of a cell. */
export function Chips(props: ElementProps) {
  return <span {...props} className={styles.chips} />;
}

/** Takes the space between the start and the end of a line. */
export function Spring() {
  return <span className={styles.spring} />;
}

/** Names and values in two columns; takes `Pair`s. */
export function Pairs({ className, ...rest }: ElementProps) {
  return <dl {...rest} className={joinedClasses(styles.pairs, className)} />;
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
        {typeof children === "string" ? shownValue(children) : children}
      </dd>
    </>
  );
}
