/** The command registry: one table for the palette, the keys, the menus and the page of shortcuts. */
import { type ComponentType, useEffect, useState } from "react";
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
  send: { what: "Send what a Try tab has", keys: [modKey, "Enter"] },
  walk: { what: "Move through a list", keys: ["↑", "↓"] },
  ends: { what: "First and last of a list", keys: ["Home", "End"] },
  open: { what: "Open the chosen row", keys: ["Enter"] },
} as const satisfies Readonly<Record<string, Shortcut>>;

/** What the palette finds of a command while its page is not shown. */
export interface PageCommand {
  /** Unique among the commands of a page. */
  readonly id: string;
  /** The text in the palette, in menus and on buttons. */
  readonly title: string;
  readonly keywords?: string;
  /** How to get to it on the page, where something has to be chosen first: the palette only opens the page. */
  readonly where?: string;
}

export interface Command extends PageCommand {
  /** The other shortcuts are handled by the focused component. */
  readonly key?: CommandKey;
  readonly icon?: ComponentType<{ size: number; stroke: number; color?: string }>;
  /** Whether it can be run now; without it, whenever it is offered. */
  readonly enabled?: boolean;
  /** It cannot be undone. */
  readonly isDestructive?: boolean;
  readonly run: () => void;
}

const known = new Map<symbol, readonly Command[]>();

const canRun = ({ enabled = true }: Command): boolean => enabled;

const allCommands = (): readonly Command[] => [...known.values()].flat();

const listeners = new Set<() => void>();
let isAnnounced = false;

/** One notification for all changes in one task. */
function changed(): void {
  if (isAnnounced || listeners.size === 0) return;
  isAnnounced = true;
  queueMicrotask(() => {
    isAnnounced = false;
    for (const listener of [...listeners]) listener();
  });
}

/** Calls back when the table may have changed; returns the function that removes the listener. */
export function onCommandsChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The commands of the visible components that can be run now. */
export const shownCommands = (): readonly Command[] => allCommands().filter(canRun);

/** All of them, for the desktop's menu. */
export const knownCommands = (): MenuCommand[] =>
  allCommands().map((command) => ({
    id: command.id,
    title: command.title,
    ...(command.key !== undefined && { key: command.key }),
    enabled: canRun(command),
  }));

/** A command that can no longer be run is ignored. */
export const runCommand = (id: string): void =>
  shownCommands()
    .find((command) => command.id === id)
    ?.run();

const longestWaitMs = 5_000;
let stopWaiting = () => {};

/** Runs a command of a page that is about to be shown, when it can be run. One that cannot be run then is forgotten. */
export function runWhenOffered(id: string): void {
  stopWaiting();
  const runOffered = () => {
    if (!shownCommands().some((command) => command.id === id)) return;
    stopWaiting();
    runCommand(id);
  };
  const removeListener = onCommandsChanged(runOffered);
  const timer = setTimeout(() => stopWaiting(), longestWaitMs);
  stopWaiting = () => {
    clearTimeout(timer);
    removeListener();
    stopWaiting = () => {};
  };
  runOffered();
}

/** Offers commands in the palette and by their keys for as long as the component is shown. Menus show the same ones (`CommandItems`). */
export function useCommands(commands: readonly Command[]): void {
  const [key] = useState(() => Symbol("commands"));
  useEffect(() => {
    known.set(key, commands);
    changed();
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = known.get(key)?.find((one) => one.key !== undefined && isPressed(one.key, event) && canRun(one));
      if (!command) return;
      event.preventDefault();
      command.run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => {
      known.delete(key);
      changed();
      document.removeEventListener("keydown", onKeyDown);
    };
  }, [key]);
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
    case "send":
      return withMod && event.key === "Enter" && !target.closest("[role='dialog']");
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
