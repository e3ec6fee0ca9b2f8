import { ActionIcon, Tabs } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { ComponentType, ReactNode, Ref } from "react";
import type { DetailKind, Details } from "../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { onEscape } from "../ui/keys.ts";
import { Spring } from "../ui/panel.tsx";
import { Boundary } from "../ui/status/boundary.tsx";
import { TabList } from "../ui/tab-list.tsx";
import { shownText } from "../ui/texts/shown-text.ts";
import { Tooltip } from "../ui/tooltip.tsx";
import { useRemembered } from "../ui/use-remembered.ts";
import styles from "./inspector-frame.module.css";

/** Props of the inspector of each kind. */
export interface InspectorProps<Kind extends DetailKind> {
  /** The row as the list has it, or as it was when the detail was read. */
  readonly row: TrafficRow;
  readonly detail: Details[Kind];
  /** Shows another row of the service instead: the connection of a message. */
  readonly onRow: (row: number) => void;
  readonly onClose: () => void;
}

/** Inspectors by the kind of detail that they show; a service's page has those of the kinds that its service records. */
export type Inspectors = { readonly [Kind in DetailKind]?: ComponentType<InspectorProps<Kind>> };

interface InspectorFrameProps {
  /** Title of the row: one line, truncated at its end. */
  readonly title: ReactNode;
  /** The full title, if it is too long for its line. */
  readonly hint?: string | undefined;
  /** The title is a protocol text, such as method and path or a topic. */
  readonly mono?: boolean;
  /** Its state. */
  readonly mark?: ReactNode;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly ref?: Ref<HTMLDivElement>;
  readonly children: ReactNode;
}

/** The column beside a list: title, commands, close button and content. Escape closes it from anywhere inside. */
export function InspectorFrame({ title, hint, mono = false, mark, actions, onClose, ref, children }: InspectorFrameProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it from anywhere inside.
    <div ref={ref} tabIndex={-1} className={styles.inspector} onKeyDown={onEscape(onClose)}>
      <header className={styles.head}>
        <h2 className={styles.name} data-mono={mono || undefined} title={hint && shownText(hint)}>
          {typeof title === "string" ? shownText(title) : title}
        </h2>
        {mark && <span className={styles.mark}>{mark}</span>}
        <Spring />
        {actions && <div className={styles.actions}>{actions}</div>}
        <Tooltip label="Close (Esc)">
          <ActionIcon aria-label="Close the inspector" onClick={onClose}>
            <IconX size={16} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </header>
      {children}
    </div>
  );
}

export interface InspectorTab {
  readonly name: string;
  readonly title: string;
  readonly content: ReactNode;
}

interface InspectorTabsProps {
  /** The last chosen tab is shown again, if this inspector has it. */
  readonly rememberAs: string;
  readonly tabs: readonly InspectorTab[];
  /** The default. */
  readonly first?: string;
}

export function InspectorTabs({ rememberAs, tabs, first = tabs[0]?.name ?? "" }: InspectorTabsProps) {
  const [chosen, setChosen] = useRemembered<string>(rememberAs, first);
  const shown = tabs.some(({ name }) => name === chosen) ? chosen : first;
  return (
    <Tabs className={styles.tabs} value={shown} onChange={(next) => setChosen(next ?? first)} keepMounted={false}>
      <TabList className={styles.tabList} tabs={tabs} />
      {tabs.map(({ name, title, content }) => (
        <Tabs.Panel key={name} value={name} className={styles.panel}>
          <Boundary region={`inspector: ${title}`}>{content}</Boundary>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The content of an inspector without tabs. */
export function InspectorPanel({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <section className={[styles.panel, className].filter(Boolean).join(" ")} aria-label={label}>
      {children}
    </section>
  );
}

/** Shown if the content does not exist, or no longer exists. */
export function InspectorNote({ children }: { readonly children: ReactNode }) {
  return <p className={styles.note}>{children}</p>;
}

/** Room for a viewer that fills the rest of a panel. */
export function InspectorContent({ children }: { readonly children: ReactNode }) {
  return <div className={styles.content}>{children}</div>;
}
