import { Menu, UnstyledButton } from "@mantine/core";
import { IconCheck, IconChevronDown, IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { useControl } from "../control/client-context.tsx";
import { useProfiles } from "../control/use-store.ts";
import { useCommands } from "../ui/commands.ts";
import { useConfirm } from "../ui/forms/confirm.tsx";
import { attempt } from "../ui/status/notify.tsx";
import styles from "./profile-menu.module.css";
import { ProfileNameDialog } from "./profile-name-dialog.tsx";

const newProfile = "New profile, a copy of this one…";

type Naming = "create" | "rename" | undefined;

export function ProfileMenu() {
  const client = useControl();
  const confirm = useConfirm();
  const profiles = useProfiles();
  const [naming, setNaming] = useState<Naming>();
  useCommands([{ id: "profile-new", title: newProfile, keywords: "create", run: () => setNaming("create") }]);
  if (!profiles) return null;
  const { active, names } = profiles;

  const remove = async () => {
    const yes = await confirm({
      title: `Remove the profile “${active}”?`,
      text: "Its configuration of every service is lost. Running services keep running; another profile becomes active.",
      action: "Remove profile",
    });
    if (yes) await attempt(client.call("profile.remove", { name: active }));
  };
  const settle = (name: string) =>
    naming === "rename" ? client.call("profile.rename", { name: active, to: name }) : client.call("profile.create", { name });

  return (
    <div className={styles.place}>
      <Menu position="bottom-start" width={240} withinPortal={false}>
        <Menu.Target>
          <UnstyledButton className={styles.target}>
            <span className={styles.label}>Profile</span> <span className={styles.name}>{active}</span>
            <IconChevronDown size={14} stroke={1.5} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>The configuration of every service</Menu.Label>
          {names.map((name) => (
            <Menu.Item
              key={name}
              rightSection={name === active && <IconCheck size={14} stroke={1.5} aria-label="active" />}
              onClick={() => name !== active && attempt(client.call("profile.activate", { name }))}
            >
              <span className={styles.item}>{name}</span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={14} stroke={1.5} />} onClick={() => setNaming("create")}>
            {newProfile}
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={14} stroke={1.5} />} onClick={() => setNaming("rename")}>
            Rename…
          </Menu.Item>
          <Menu.Item color="var(--bl-bad)" leftSection={<IconTrash size={14} stroke={1.5} />} disabled={names.length < 2} onClick={remove}>
            Remove…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ProfileNameDialog
        opened={naming !== undefined}
        title={naming === "rename" ? `Rename “${active}”` : "New profile"}
        action={naming === "rename" ? "Rename" : "Create profile"}
        initial={naming === "rename" ? active : ""}
        onSettle={settle}
        onClose={() => setNaming(undefined)}
      />
    </div>
  );
}
