import { ActionIcon, Button, Divider, Menu } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlayFilled } from "@tabler/icons-react";
import { type ComponentType, type ReactNode, useState } from "react";
import styles from "./toolbar.module.css";
import { Tooltip } from "./tooltip.tsx";

interface BarProps {
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Actions on the list below it. */
export function Toolbar({ label, className = "", children }: BarProps & { readonly label: string }) {
  return (
    <div className={`${styles.toolbar} ${className}`} role="toolbar" aria-label={label}>
      {children}
    </div>
  );
}

export function ToolbarSeparator() {
  return <Divider orientation="vertical" h={14} style={{ alignSelf: "center" }} />;
}

interface IconButtonProps {
  /** Its name for screen readers, and its tooltip. */
  readonly label: string;
  readonly icon: ComponentType<{ size: number; stroke: number }>;
  readonly onClick: () => void;
  /** For a button that stays pressed. */
  readonly pressed?: boolean | undefined;
  readonly disabled?: boolean;
}

/** An icon with a tooltip; it looks pressed while `pressed`. */
export function IconButton({ label, icon: Icon, onClick, pressed, disabled = false }: IconButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon className={styles.toggle} aria-label={label} aria-pressed={pressed} disabled={disabled} onClick={onClick}>
        <Icon size={15} stroke={1.5} />
      </ActionIcon>
    </Tooltip>
  );
}

interface IconMenuProps {
  readonly label: string;
  readonly icon: ComponentType<{ size: number; stroke: number }>;
  readonly width: number;
  readonly disabled?: boolean;
  /** Items. */
  readonly children: ReactNode;
}

/** A menu behind an icon, as high as there is room. Not in a portal: it belongs to the page's landmark. */
export function IconMenu({ label, icon: Icon, width, disabled = false, children }: IconMenuProps) {
  const [opened, setOpened] = useState(false);
  return (
    <Menu
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      width={width}
      withinPortal={false}
      middlewares={{ size: { padding: 8 } }}
    >
      {/* In this order: a tooltip does not pass on what tells a screen reader that its button opens a menu. */}
      <Tooltip label={label} disabled={opened}>
        <Menu.Target>
          <ActionIcon aria-label={label} disabled={disabled}>
            <Icon size={15} stroke={1.5} />
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
      <Menu.Dropdown style={{ overflowY: "auto" }}>{children}</Menu.Dropdown>
    </Menu>
  );
}

interface ToggleButtonProps {
  readonly label: string;
  readonly icon: ComponentType<{ size: number; stroke: number }>;
  readonly on: boolean;
  readonly onClick: () => void;
}

/** A toggle button with icon and word. In a narrow panel the word is hidden first. */
export function ToggleButton({ label, icon: Icon, on, onClick }: ToggleButtonProps) {
  return (
    <Button
      className={`${styles.toggle} ${styles.fixed} ${styles.wordy}`}
      aria-label={label}
      title={label}
      aria-pressed={on}
      onClick={onClick}
      leftSection={<Icon size={14} stroke={1.5} />}
    >
      <span className={styles.word}>{label}</span>
    </Button>
  );
}

interface PauseButtonProps {
  readonly paused: boolean;
  readonly onToggle: () => void;
  /** The paused object: "the list". */
  readonly what?: string;
  /** Space does the same. */
  readonly hasKey?: boolean;
  /** There is nothing to pause. */
  readonly disabled?: boolean;
}

/** Of fixed width, so that nothing moves when its label changes. */
export function PauseButton({ paused, onToggle, what = "the list", hasKey = true, disabled = false }: PauseButtonProps) {
  const key = hasKey ? " (Space)" : "";
  return (
    <Tooltip label={paused ? `Follow the newest${key}` : `Hold ${what}; recording continues${key}`}>
      <Button
        className={`${styles.fixed} ${styles.pause}`}
        disabled={disabled}
        variant={paused ? "filled" : "default"}
        onClick={onToggle}
        aria-pressed={paused}
        leftSection={paused ? <IconPlayerPlayFilled size={13} /> : <IconPlayerPause size={14} stroke={1.5} />}
      >
        {paused ? "Resume" : "Pause"}
      </Button>
    </Tooltip>
  );
}

/** Below a list: facts at the start, current activity at the end. */
export function StatusLine({ className = "", children }: BarProps) {
  return <div className={`${styles.status} ${className}`}>{children}</div>;
}

/** Children in one line, with a dot between each two. */
export function Facts({ className = "", children }: BarProps) {
  return <span className={`${styles.facts} ${className}`}>{children}</span>;
}
