import { ActionIcon } from "@mantine/core";
import { IconPlayerPlay, IconRefresh, IconSettings, IconSquare } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { ServiceView } from "../../../../contract/service.ts";
import { hashOf, servicePage } from "../../app/route.ts";
import type { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import styles from "./service-card.module.css";

interface CardButtonsProps {
  readonly service: ServiceView;
  readonly operations: ReturnType<typeof useServiceOperations>;
}

/** Always two places, so that no button moves. */
export function CardButtons({ service, operations }: CardButtonsProps) {
  const { id, title, status } = service;
  const on = status.state === "running" || status.state === "stopping";
  const busy = status.state === "starting" || status.state === "stopping";
  return (
    <span className={styles.buttons}>
      {on ? (
        <IconButton label={`Restart ${title}`} disabled={busy} onClick={() => operations.restart(id)}>
          <IconRefresh size={15} stroke={1.5} />
        </IconButton>
      ) : (
        <Tooltip label={`Configure ${title}`}>
          <ActionIcon component="a" href={hashOf(servicePage(id, "config"))} aria-label={`Configure ${title}`}>
            <IconSettings size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      )}
      {on || status.state === "starting" ? (
        <IconButton label={`Stop ${title}`} loading={busy} onClick={() => operations.stop(id)}>
          <IconSquare size={14} stroke={1.5} />
        </IconButton>
      ) : (
        <IconButton label={`Start ${title}`} loading={busy} onClick={() => operations.start(id)}>
          <IconPlayerPlay size={15} stroke={1.5} />
        </IconButton>
      )}
    </span>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly disabled?: boolean;
  readonly loading?: boolean;
  onClick(): void;
  readonly children: ReactNode;
}

function IconButton({ label, disabled = false, loading = false, onClick, children }: IconButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={disabled} loading={loading} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
