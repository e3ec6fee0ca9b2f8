/** The command registry: one table for the palette, the keys, the menus and the page of shortcuts. */
import { useEffect, useLayoutEffect, useRef } from "react";
import type { CommandKey, MenuCommand } from "../../../contract/menu-commands.ts";

/** The modifier key for shortcuts on this system. */
const modKey = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl";

export interface Shortcut {
  /** What it does, on the page of shortcuts. */
  readonly what: string;
  /** As labelled on the keyboard. */
  readonly keys: readonly string[];
}

export const shortcuts = {
  find: { what: "Find a service, an action or a setting", keys: [modKey, "K"] },
  logs: { what: "Open and close the logs", keys: [modKey, "J"] },
  filter: { what: "Go to the page’s filter", keys: ["/"] },
  leave: { what: "Clear the filter, then leave it; close the inspector", keys: ["Esc"] },
  pause: { what: "Pause and resume the list", keys: ["Space"] },
  walk: { what: "Move through a list", keys: ["↑", "↓"] },
  ends: { what: "First and last of a list", keys: ["Home", "End"] },
  open: { what: "Open the chosen row", keys: ["Enter"] },
} as const satisfies Readonly<Record<string, Shortcut>>;

export interface Command {
  /** Unique among the commands of a page. */
  readonly id: string;
  /** The text in the palette, in menus and on buttons. */
  readonly title: string;
  readonly keywords?: string;
  /** The other shortcuts are handled by the focused component. */
  readonly key?: CommandKey;
  /** Whether it can be run now; without it, whenever it is offered. */
  readonly when?: () => boolean;
  readonly run: () => void;
}

const known = new Map<symbol, () => readonly Command[]>();

const canRun = ({ when }: Command): boolean => when?.() ?? true;

const allCommands = (): readonly Command[] => [...known.values()].flatMap((commands) => commands());

/** The commands that can be run now, of what is shown. */
export const shownCommands = (): readonly Command[] => allCommands().filter(canRun);

/** All of them, for the desktop's menu. */
export const knownCommands = (): MenuCommand[] =>
  allCommands().map((command) => ({
    id: command.id,
    title: command.title,
    ...(command.key !== undefined && { key: command.key }),
    enabled: canRun(command),
  }));

/** One that cannot be run by now is not. */
export const runCommand = (id: string): void =>
  shownCommands()
    .find((command) => command.id === id)
    ?.run();

/** Offers commands in the palette and by their keys for as long as the component is shown. Menus show the same ones (`CommandItems`). */
export function useCommands(commands: readonly Command[]): void {
  const newest = useRef(commands);
  useLayoutEffect(() => {
    newest.current = commands;
  });
  useEffect(() => {
    const key = Symbol("commands");
    known.set(key, () => newest.current);
    const onKeyDown = (event: KeyboardEvent) => {
      const command = newest.current.find((one) => one.key !== undefined && isPressed(one.key, event) && canRun(one));
      if (!command) return;
      event.preventDefault();
      command.run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => {
      known.delete(key);
      document.removeEventListener("keydown", onKeyDown);
    };
  }, []);
}

const typesOrPresses = "input, textarea, select, button, a, summary, [contenteditable], [role='menu'], [role='dialog']";

function isPressed(key: CommandKey, event: KeyboardEvent): boolean {
  if (event.repeat || event.defaultPrevented || event.altKey) return false;
  const withMod = event.ctrlKey || event.metaKey;
  const target = event.target as HTMLElement;
  switch (key) {
    case "logs":
      return withMod && event.key.toLowerCase() === "j";
    case "filter":
      return !withMod && event.key === "/" && !target.closest("input, textarea, select, [contenteditable], [role='dialog']");
    case "pause":
      return !withMod && event.key === " " && !target.closest(typesOrPresses);
    default:
      return key satisfies never;
  }
}

/** Pause and Resume of the page's list. */
export function usePauseCommand({ paused, onToggle, enabled = true }: PauseCommand): void {
  useCommands(enabled ? [{ id: "pause", title: paused ? "Resume the list" : "Pause the list", key: "pause", run: onToggle }] : []);
}

interface PauseCommand {
  readonly paused: boolean;
  readonly onToggle: () => void;
  readonly enabled?: boolean;
}
