import { Button } from "@mantine/core";
import { IconPlayerPlay, IconRefresh, IconSquare, IconWifi } from "@tabler/icons-react";
import { type Endpoint, isOfLan, type ServiceView } from "../../../../contract/service.ts";
import { servicePages } from "../../services/registry.ts";
import { Caption, Chip, PageTitle } from "../../ui/panel.tsx";
import type { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { Since } from "../../ui/status/since.tsx";
import { RestartNeeded, StateLabel } from "../../ui/status/status-shape.tsx";
import { endpointsOf } from "../../ui/texts/address.ts";
import { EndpointChips } from "./endpoint-chips.tsx";
import styles from "./service-page.module.css";

interface ServiceHeadingProps {
  readonly service: ServiceView;
  readonly operations: ReturnType<typeof useServiceOperations>;
}

export function ServiceHeading({ service, operations }: ServiceHeadingProps) {
  const { title, status, openToLan, recordsCredentials, restartNeeded } = service;
  const running = status.state === "running";
  return (
    <div className={styles.heading} data-chips={Number(openToLan) + Number(recordsCredentials) + Number(restartNeeded)}>
      <PageTitle>{title}</PageTitle>
      <StateLabel status={status} />
      <Since status={status} />
      {status.state === "starting" && status.doing !== undefined && <Caption>{status.doing}</Caption>}
      <EndpointChips className={styles.addresses} title={title} endpoints={lanFirst(endpointsOf(service))} running={running} />
      {openToLan && (
        <Chip tone="warn" tall>
          <IconWifi size={14} stroke={1.5} />
          <LanWords service={service} />
        </Chip>
      )}
      {recordsCredentials && (
        <Chip tone="warn" tall title="Passwords and tokens of clients are kept as they come, by “Record credentials” in Config.">
          Credentials recorded
        </Chip>
      )}
      {restartNeeded && <RestartNeeded tall />}
      <Operations service={service} operations={operations} />
    </div>
  );
}

/** Who opens a service to the LAN needs the address for another device, and then that for this computer. */
function lanFirst(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const [first, ...ofLan] = endpoints.filter(isOfLan);
  const own = endpoints.filter((endpoint) => !isOfLan(endpoint));
  return first === undefined ? own : [first, ...own.slice(0, 1), ...ofLan, ...own.slice(1)];
}

/** Whether others reach it now, or once it runs. */
function LanWords({ service: { id, status } }: Pick<ServiceHeadingProps, "service">) {
  const LanText = servicePages.get(id)?.LanText;
  if (status.state !== "running") return "Opens to the LAN";
  return LanText ? <LanText /> : "Open to the LAN";
}

/** Restart and Stop while it runs; otherwise Start in the place of Stop. */
function Operations({ service: { id, status }, operations }: ServiceHeadingProps) {
  const { pending, start, stop, restart } = operations;
  const on = status.state === "running" || status.state === "stopping" || pending === "restart";
  const starting = status.state === "starting";
  return (
    <div className={styles.operations}>
      {on && (
        <Button
          leftSection={<IconRefresh size={14} stroke={1.5} />}
          disabled={status.state === "stopping" && pending !== "restart"}
          loading={pending === "restart"}
          onClick={() => restart(id)}
        >
          Restart
        </Button>
      )}
      {on || starting ? (
        <Button
          leftSection={<IconSquare size={13} stroke={1.5} />}
          loading={status.state === "stopping" && pending !== "restart"}
          disabled={pending === "restart"}
          onClick={() => stop(id)}
        >
          Stop
        </Button>
      ) : (
        <Button leftSection={<IconPlayerPlay size={14} stroke={1.5} />} loading={pending === "start"} onClick={() => start(id)}>
          Start
        </Button>
      )}
    </div>
  );
}
