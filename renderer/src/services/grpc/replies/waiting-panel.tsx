import { Button } from "@mantine/core";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import type { WaitingCall } from "../../../../../contract/services/grpc-replies.ts";
import { useControl } from "../../../control/client-context.tsx";
import { MeasuredPath } from "../../../list/cells/path-text.tsx";
import { LowerList, LowerRow } from "../../../ui/lower-panel.tsx";
import { Caption, PanelHead, SectionTitle } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact, isoTime } from "../../../ui/texts/time.ts";
import styles from "./replies.module.css";

/** Calls that a rule lets wait, to be released by hand. */
export function WaitingPanel({ calls }: { readonly calls: readonly WaitingCall[] }) {
  const client = useControl();
  const now = useNow();
  const release = (name: string, id?: number) =>
    void attempt(client.action(grpcActions, "grpc", "reply.release", { name, ...(id !== undefined && { id }) }));
  return (
    <section className={styles.waitingPanel} aria-label="Waiting calls">
      <PanelHead plain>
        <SectionTitle>Waiting calls</SectionTitle>
        <Caption>{formatCountOf(calls.length, "call")}</Caption>
      </PanelHead>
      <LowerList label="Calls that wait for a release" maxHeightPx={180}>
        {calls.map(({ id, name, path, since }, place) => (
          <LowerRow key={id} className={styles.waiting}>
            <code title={shownText(name)}>{shownText(name)}</code>
            <MeasuredPath text={path} quiet />
            <span className={styles.since} title={`since ${isoTime(since)}`}>
              {formatDurationExact(Math.max(0, now - since))}
            </span>
            <Button size="compact-xs" aria-label={`Release ${name}, call ${id}`} onClick={() => release(name, id)}>
              Release
            </Button>
            {calls.findIndex((call) => call.name === name) === place && (
              <Button
                size="compact-xs"
                aria-label={`Release all that wait for ${name}`}
                disabled={calls.filter((call) => call.name === name).length === 1}
                onClick={() => release(name)}
              >
                Release all
              </Button>
            )}
          </LowerRow>
        ))}
      </LowerList>
    </section>
  );
}
