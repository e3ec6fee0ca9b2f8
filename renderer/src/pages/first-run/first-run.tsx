import { Button } from "@mantine/core";
import { IconPlayerPlayFilled } from "@tabler/icons-react";
import { useState } from "react";
import type { ServiceView } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { firstCommand } from "../../services/registry.ts";
import { CommandLine } from "../../ui/copy/command-line.tsx";
import { PageHeading, PageTitle } from "../../ui/panel.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { notifyFailure } from "../../ui/status/notify.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import styles from "./first-run.module.css";
import { PortTable } from "./port-table.tsx";

interface FirstRunProps {
  readonly built: readonly ServiceView[];
  readonly unbuilt: readonly ServiceView[];
}

/** Shown before anything was started: three steps, and a check of the ports. */
export function FirstRun({ built, unbuilt }: FirstRunProps) {
  const first = firstCommand(built);
  return (
    <div className={styles.page}>
      <PageHeading>
        <PageTitle>Overview</PageTitle>
        <span className={styles.state}>
          <StatusShape shape="stopped" />
          Nothing started yet
        </span>
      </PageHeading>
      <div className={styles.middle}>
        <div className={styles.welcome}>
          <Lot />
          <div>
            <ol className={styles.steps}>
              <li>
                <strong>Start</strong> the stand-ins. Each runs in a process of its own, on this computer only.
              </li>
              <li>
                <strong>Point</strong> your app at an address below, or send sample traffic.
              </li>
              <li>
                <strong>Watch</strong> what passes through, live, in each service’s page.
              </li>
            </ol>
            <StartAllAndSend />
          </div>
        </div>
        <Boundary region="first run: ports" line>
          <PortTable built={built} unbuilt={unbuilt} />
        </Boundary>
        {first && (
          <p className={styles.try}>
            {`Try it from a terminal once ${first.title} runs `}
            <CommandLine command={first.command} />
          </p>
        )}
      </div>
    </div>
  );
}

function StartAllAndSend() {
  const client = useControl();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      // All in one call: the page may be closed or loaded again before they run.
      await client.call("service.startAll", { sample: true });
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <div className={styles.start}>
      <Button size="md" variant="filled" leftSection={<IconPlayerPlayFilled size={12} />} loading={busy} onClick={run}>
        Start all and send sample traffic
      </Button>
      <span className={styles.takes}>Takes about 2 seconds. Events stores its sample events; its page can delete them.</span>
    </div>
  );
}

/** Three façades with their props, seen from the front: one is painted. */
function Lot() {
  return (
    <svg viewBox="0 0 358 104" width="346" height="104" aria-hidden="true" className={styles.lot}>
      <path className={styles.ground} d="M6 102h346" />
      <path d="M27 101V38h13.500V25.500H56v-13h19v13h15.500V38H104v63M56 101V70h19v31M104 46l28 55m-28-28.500h13.500" />
      <path className={styles.painted} d="M137 23h92m-86.500 0v78M224 23v78M158 38h14v16h-14Zm37 0h14v16h-14Zm-21 63V72h18.500v29" />
      <path d="m224 34 31 67m-31-34h15M263 101V51l26-18 26 18v50M284 54h10m-14 47V75h18v26m17-44 21 44m-21-20.500h10.500" />
    </svg>
  );
}
