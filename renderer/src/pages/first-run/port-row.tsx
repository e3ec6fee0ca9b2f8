import { Button } from "@mantine/core";
import { IconCheck, IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import type { PortCheck } from "../../../../contract/control.ts";
import type { ServiceId, ServiceView, SuggestedFix } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { applyFix, useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { attempt } from "../../ui/status/notify.tsx";
import { StatusShape, shapeOf, stateWord } from "../../ui/status/status-shape.tsx";
import { isPickedAtStart, urlText } from "../../ui/texts/address.ts";
import styles from "./first-run.module.css";

interface PortRowProps {
  readonly service: ServiceView;
  readonly checks: readonly PortCheck[] | undefined;
  onFixed(): void;
}

export function PortRow({ service, checks, onFixed }: PortRowProps) {
  const { title, purpose, status, plannedEndpoints, ports } = service;
  const taken = checks?.find((check) => !check.free);
  const endpoint = plannedEndpoints[0];
  return (
    <tr>
      <td className={styles.shape}>
        <StatusShape shape={shapeOf(status)} />
        <span className="visually-hidden">{stateWord(status)}</span>
      </td>
      <td className={styles.name}>{title}</td>
      <td className={styles.purpose}>{purpose}</td>
      <td>
        {endpoint && (
          <span className={styles.address}>
            <code>{urlText(endpoint.url)}</code>
            {!isPickedAtStart(endpoint.url) && <CopyButton text={endpoint.url} what={endpoint.url} />}
          </span>
        )}
      </td>
      <td>
        {taken ? (
          <span className={styles.taken}>
            <StatusShape shape="warning" />
            {taken.fix && !taken.fix.thisRun ? taken.problem : `${taken.problem}. ${taken.hint}`}
          </span>
        ) : (
          checks && (
            <span className={styles.free}>
              <IconCheck size={14} stroke={1.5} />
              {ports.some((port) => port > 0) && (
                <span>
                  <code>{ports.filter((port) => port > 0).join(", ")}</code> free
                </span>
              )}
              {ports.every((port) => port === 0) && "picked at start"}
            </span>
          )
        )}
      </td>
      <td className={styles.button}>
        {taken?.fix ? <Fix id={service.id} fix={taken.fix} onFixed={onFixed} /> : <Start service={service} />}
      </td>
    </tr>
  );
}

function Start({ service: { id, title } }: { service: ServiceView }) {
  const { start, pending } = useServiceOperations();
  return (
    <Button
      variant="subtle"
      color="gray"
      c="var(--bl-text)"
      leftSection={<IconPlayerPlay size={14} stroke={1.5} />}
      loading={pending === "start"}
      aria-label={`Start ${title}`}
      onClick={() => start(id)}
    >
      Start
    </Button>
  );
}

function Fix({ id, fix, onFixed }: { id: ServiceId; fix: SuggestedFix; onFixed(): void }) {
  const client = useControl();
  const [busy, setBusy] = useState(false);
  const apply = async () => {
    setBusy(true);
    await attempt(applyFix(client, id, fix));
    setBusy(false);
    onFixed();
  };
  return (
    <Button loading={busy} onClick={apply}>
      {fix.title}
    </Button>
  );
}
