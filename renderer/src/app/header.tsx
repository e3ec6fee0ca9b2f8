import { Button, Kbd, UnstyledButton } from "@mantine/core";
import { IconPlayerPlay, IconSearch, IconSquare } from "@tabler/icons-react";
import { useServices } from "../control/use-store.ts";
import { shortcuts } from "../ui/commands.ts";
import { useServiceOperations } from "../ui/use-service-operations.ts";
import { palette } from "./command-palette.tsx";
import styles from "./header.module.css";
import { LanBadge } from "./lan-badge.tsx";
import { Mark } from "./mark.tsx";
import { ProfileMenu } from "./profile-menu.tsx";
import { SchemeMenu } from "./scheme-menu.tsx";

export function Header() {
  return (
    <header className={styles.header}>
      <a className={styles.brand} href="#/overview">
        <Mark />
        <span className={styles.brandName}>Backlot</span>
      </a>
      <ProfileMenu />
      <UnstyledButton className={styles.search} onClick={palette.open}>
        <IconSearch size={14} stroke={1.5} />
        <span className={styles.hint}>Search services, actions, settings</span>
        <Kbd>{shortcuts.find.keys.join(" ")}</Kbd>
      </UnstyledButton>
      <div className={styles.right}>
        <LanBadge />
        <AllButtons />
        <span className={styles.separator} />
        <SchemeMenu />
      </div>
    </header>
  );
}

function AllButtons() {
  const services = useServices();
  const { startAll, stopAll, pending } = useServiceOperations();
  const built = services.filter((service) => service.built);
  const idle = built.some(({ status }) => status.state === "stopped" || status.state === "failed");
  const busy = built.some(({ status }) => status.state === "running" || status.state === "starting");
  return (
    <>
      <Button leftSection={<IconPlayerPlay size={14} stroke={1.5} />} disabled={!idle} loading={pending === "startAll"} onClick={startAll}>
        Start all
      </Button>
      <Button leftSection={<IconSquare size={13} stroke={1.5} />} disabled={!busy} loading={pending === "stopAll"} onClick={stopAll}>
        Stop all
      </Button>
    </>
  );
}
