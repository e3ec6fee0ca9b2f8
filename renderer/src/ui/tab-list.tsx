import { Tabs } from "@mantine/core";
import type { KeyboardEvent } from "react";

interface TabListProps {
  readonly tabs: readonly { readonly name: string; readonly title: string }[];
  readonly label?: string;
  readonly className?: string | undefined;
}

/** The tabs of `Tabs`; Home and End choose the first and the last, as the arrow keys choose the next. */
export function TabList({ tabs, label, className = "" }: TabListProps) {
  return (
    <Tabs.List className={className} aria-label={label} onKeyDownCapture={chooseAtEnd}>
      {tabs.map(({ name, title }) => (
        <Tabs.Tab key={name} value={name}>
          {title}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}

function chooseAtEnd(event: KeyboardEvent): void {
  if (event.key !== "Home" && event.key !== "End") return;
  event.preventDefault();
  event.stopPropagation();
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const tab = event.key === "Home" ? tabs[0] : tabs.at(-1);
  tab?.focus();
  tab?.click();
}
