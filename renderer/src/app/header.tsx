import { Button, Kbd, UnstyledButton } from "@mantine/core";
import { IconPlayerPlay, IconSearch, IconSquare } from "@tabler/icons-react";
import { useServices } from "../control/use-store.ts";
import { shortcuts } from "../ui/commands.ts";
import { useServiceOperations } from "../ui/services/use-service-operations.ts";
import { palette } from "./command-palette.tsx";
import styles from "./header.module.css";
import { LanBadge } from "./lan-badge.tsx";
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
        <span className={styles.hint}>
          Search<span className={styles.hintMore}> services, actions, settings</span>
        </span>
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

/** The program's mark. */
function Mark() {
  return (
    <svg viewBox="0 0 20 16" width="20" height="16" aria-hidden="true" className={styles.mark}>
      <path className={styles.prop} d="m13 4 6 12m-6-5h3.300" />
      <path fillRule="evenodd" d="M0 0h14v3h-1v13H6v-6H3v6H1V3H0Zm8 10v3h3v-3Z" />
    </svg>
  );
}
