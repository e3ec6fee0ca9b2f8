import { UnstyledButton } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy/copy-button.tsx";
import { SectionTitle } from "../ui/panel.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { shownText, shownValue } from "../ui/texts/shown-text.ts";
import { useRemembered } from "../ui/use-remembered.ts";
import styles from "./section.module.css";

interface SectionProps {
  readonly title: string;
  /** Secondary text beside the title. */
  readonly facts?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of an inspector under a line. */
export function Section({ title, facts, actions, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <SectionTitle as="h3">{title}</SectionTitle>
        {facts !== undefined && <span className={styles.facts}>{facts}</span>}
        {actions}
      </div>
      <Boundary region={`inspector: ${title}`} line>
        {children}
      </Boundary>
    </section>
  );
}

/** A section that can be folded; its state is remembered by its name. */
export function FoldedSection({ title, facts, actions, children }: SectionProps) {
  const [open, setOpen] = useRemembered(`inspector.${title.toLowerCase()}`, true);
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <UnstyledButton className={styles.fold} aria-expanded={open} onClick={() => setOpen(!open)}>
          <IconChevronDown size={14} stroke={1.5} aria-hidden="true" className={styles.chevron} data-open={open} />
          <span className={styles.title}>{title}</span>
          <span className={styles.count}>{facts}</span>
        </UnstyledButton>
        {actions}
      </div>
      {open && (
        <Boundary region={`inspector: ${title}`} line>
          {children}
        </Boundary>
      )}
    </section>
  );
}

/** Names and values in two columns; takes `FieldRow`s. */
export function FieldRows({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.list}>{children}</dl>;
}

interface FieldRowProps {
  readonly name: string;
  readonly children: ReactNode;
  /** The value in full, or in another form. */
  readonly title?: string | undefined;
  /** What its button copies. */
  readonly copied?: string | undefined;
  /** Before the button that copies. */
  readonly tools?: ReactNode;
}

export function FieldRow({ name, children, title, copied, tools }: FieldRowProps) {
  return (
    <div className={styles.row}>
      <dt>{shownText(name)}</dt>
      <dd>
        <span className={styles.value} title={title && shownText(title)}>
          {typeof children === "string" ? shownValue(children) : children}
        </span>
        {tools}
        {copied !== undefined && (
          <span className={styles.copy}>
            <CopyButton text={copied} what={name} />
          </span>
        )}
      </dd>
    </div>
  );
}
