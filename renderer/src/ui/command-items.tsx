import { Kbd, Menu } from "@mantine/core";
import { Fragment } from "react";
import { type Command, shortcuts } from "./commands.ts";
import { IconButton } from "./toolbar.tsx";

/** Commands as the entries of a menu; those that cannot be run now are shown and disabled. */
export const CommandItems = ({ commands }: { readonly commands: readonly Command[] }) =>
  commands.map(({ id, title, key, icon: Icon, enabled = true, isDestructive = false, run }) => (
    <Menu.Item
      key={id}
      disabled={!enabled}
      {...(isDestructive && { color: "var(--bl-bad)" })}
      leftSection={Icon && <Icon size={14} stroke={1.5} />}
      rightSection={key && <Kbd>{shortcuts[key].keys.join(" ")}</Kbd>}
      onClick={({ currentTarget }) => {
        focusOwner(currentTarget);
        run();
      }}
    >
      {title}
    </Menu.Item>
  ));

/** A dialog gives the focus back to what had it when it opened. That is what the menu belongs to: the entry goes with the menu. */
function focusOwner(entry: HTMLElement): void {
  const menu = entry.closest("[role=menu]");
  // The menu of a row is in one element with its list.
  const owner = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "") ?? menu?.parentElement;
  const focusable = owner?.matches("button") ? owner : owner?.querySelector<HTMLElement>("[tabindex='0']");
  focusable?.focus({ preventScroll: true });
}

/** A line separates the groups. */
export const CommandGroups = ({ groups }: { readonly groups: readonly (readonly Command[])[] }) =>
  groups.map((commands, place) => (
    <Fragment key={commands[0]?.id}>
      {place > 0 && <Menu.Divider />}
      <CommandItems commands={commands} />
    </Fragment>
  ));

/** A command with an icon as a button of a toolbar. */
export const CommandButton = ({ command: { title, icon, enabled = true, run } }: { readonly command: Command }) =>
  icon && <IconButton label={title} icon={icon} disabled={!enabled} onClick={run} />;
