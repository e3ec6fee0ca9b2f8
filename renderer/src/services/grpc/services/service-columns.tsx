import { Switch } from "@mantine/core";
import { grpcActions, type HealthState } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CellText } from "../../../list/cells/cell-text.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import type { ServiceRow } from "./service-rows.ts";
import styles from "./services.module.css";

const none = <CellText tone="quiet">–</CellText>;
const count = (value: number) => (value === 0 ? none : formatCount(value));
const rate = (value: number) => (value === 0 ? none : formatRate(value));

export const serviceColumns: readonly Column<ServiceRow>[] = [
  { id: "name", title: "Service, method", rank: 0, cell: (row) => <ServiceName row={row} /> },
  {
    id: "pattern",
    title: "Pattern",
    minSample: "server stream",
    rank: 2,
    cell: (row) => row.kind === "method" && <CellText tone="soft">{row.method.pattern}</CellText>,
  },
  {
    id: "request",
    title: "Request",
    minSample: "UsualRequest",
    preferredSample: "HealthCheckRequest",
    face: "mono",
    rank: 4,
    cell: (row) => row.kind === "method" && <TypeName name={row.method.requestType} />,
  },
  {
    id: "response",
    title: "Response",
    minSample: "UsualResponse",
    preferredSample: "HealthCheckResponse",
    face: "mono",
    rank: 4,
    cell: (row) => row.kind === "method" && <TypeName name={row.method.responseType} />,
  },
  { id: "calls", title: "Calls", align: "end", minSample: "000,000", rank: 3, cell: ({ rate: { begun } }) => count(begun) },
  { id: "open", title: "Open", align: "end", minSample: "0,000", rank: 5, cell: ({ rate: { open } }) => count(open) },
  {
    id: "calls-rate",
    title: "Calls/s",
    align: "end",
    minSample: "00,000",
    rank: 1,
    cell: ({ rate: { callsPerSecond } }) => rate(callsPerSecond),
  },
  {
    id: "errors-rate",
    title: "Errors/s",
    align: "end",
    minSample: "Errors/s",
    rank: 1,
    cell: ({ rate: { errorsPerSecond } }) => rate(errorsPerSecond),
  },
  {
    id: "health",
    title: "Health",
    minSample: "NOT_SERVING",
    besidePx: 40,
    rank: 0,
    cell: (row) => row.kind === "service" && <HealthSwitch service={row.service} state={row.health} />,
  },
];

function ServiceName({ row }: { readonly row: ServiceRow }) {
  if (row.kind === "method")
    return (
      <span className={styles.method} title={row.id}>
        {shownText(row.method.name)}
      </span>
    );
  return (
    <span className={styles.service} title={row.file}>
      {shownText(row.service) || "Whole server"}
    </span>
  );
}

function TypeName({ name }: { readonly name: string }) {
  return (
    <CellText tone="soft" mono title={name}>
      {shownText(name.slice(name.lastIndexOf(".") + 1))}
    </CellText>
  );
}

/** The state of a service in grpc.health.v1. Clients that watch it are told a change at once. */
export function HealthSwitch({ service, state }: { readonly service: string; readonly state: HealthState }) {
  const client = useControl();
  const isServing = state === "SERVING";
  const change = () =>
    void attempt(client.action(grpcActions, "grpc", "health.set", { service, state: isServing ? "NOT_SERVING" : "SERVING" }));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the row below it is not chosen, and its keys are the switch's.
    <span className={styles.health} onMouseDown={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()}>
      <Switch checked={isServing} aria-label={`${service || "Whole server"} is serving`} onChange={change} />
      <span data-serving={isServing}>{state}</span>
    </span>
  );
}
