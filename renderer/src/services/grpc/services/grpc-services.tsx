import { useMemo } from "react";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useService } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { DropZone } from "../../../ui/forms/drop-zone.tsx";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Loading } from "../../../ui/status/answered.tsx";
import { NoRows } from "../../../ui/status/empty-state.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { Facts, StatusLine } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { AddProtosButton } from "../protos/add-protos-button.tsx";
import { droppedEntries, readDropped } from "../protos/dropped-files.ts";
import { ProtosPanel } from "../protos/protos-panel.tsx";
import { useAddProtos } from "../protos/use-add-protos.ts";
import { useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { useGrpcView, useLastGrpcView } from "../use-grpc-view.ts";
import { useCallRates } from "./call-rates.ts";
import { serviceColumns } from "./service-columns.tsx";
import { ServiceInspector } from "./service-inspector.tsx";
import { type ServiceRow, serviceRows } from "./service-rows.ts";

const rowId = (row: ServiceRow) => row.id;
/** Columns of a running service. */
const runningColumns: ReadonlySet<string> = new Set(["calls", "open", "calls-rate", "errors-rate", "health"]);
/** The row of the whole server, which has only health and calls. */
const wholeServer = "";
const noStates: readonly never[] = [];

/** The served services and methods, from their descriptors: types, health, and calls and errors a second. */
export function GrpcServices() {
  const service = useService("grpc");
  const protos = useGrpcView("protos");
  const { upload, add } = useAddProtos();
  const served = useLastGrpcView("services", ({ services }) => services);
  const states = useGrpcView("health", (health) => health.states) ?? noStates;
  const rates = useCallRates(useGrpcView("calls"));
  const [text, setText] = useRemembered("grpc.services.filter", "");
  const columns = useColumnChoice("grpc-services", serviceColumns);
  const choice = useRowChoice(rowId);
  const isRunning = service?.status.state === "running";
  const rows = useMemo(() => {
    const all = serviceRows(served ?? [], states, rates, text);
    return isRunning ? all : all.filter(({ id }) => id !== wholeServer);
  }, [served, states, rates, text, isRunning]);
  const opened = rows.find(({ id }) => id === choice.opened?.id) ?? choice.opened?.row;
  // Reading the types of a stopped service also makes it publish its services.
  useGrpcSchema();
  const zone = {
    hint: "Drop .proto files, a folder with them, or a descriptor set",
    refusal: isRunning ? undefined : "Start gRPC first: the running service compiles protocol files",
    onDrop: (transfer: DataTransfer) => add(readDropped(droppedEntries(transfer))),
  };
  if (!isRunning && !served)
    return (
      <DropZone {...zone}>
        <ServiceStopped id="grpc" text="Start the service to see its services, methods and types." />
      </DropZone>
    );
  return (
    <DropZone {...zone}>
      <ListPage
        label="Services"
        toolbarLabel="Services"
        filter={<FilterInput width={242} placeholder="Service, method, type" value={text} onChange={setText} />}
        tools={
          <>
            {isRunning && <AddProtosButton onAdd={add} />}
            <ColumnMenu all={serviceColumns} choice={columns} />
          </>
        }
        status={
          <StatusLine>
            <Facts>
              {!isRunning && <Fact>not running: services and types only</Fact>}
              {served && <Fact>{formatCountOf(served.length, "service")}</Fact>}
              {served && (
                <Fact>
                  {formatCountOf(
                    served.reduce((sum, { methods }) => sum + methods.length, 0),
                    "method",
                  )}
                </Fact>
              )}
            </Facts>
          </StatusLine>
        }
        below={
          <>
            {isRunning && <ProtosPanel protos={protos} upload={upload} />}
            {opened && (
              <InspectorSlot shows={opened.id}>
                <ServiceInspector key={opened.id} row={opened} isRunning={isRunning} onClose={choice.close} />
              </InspectorSlot>
            )}
          </>
        }
      >
        {served ? (
          <DataTable
            {...choice.tableProps}
            label="Services and methods"
            count={rows.length}
            rowAt={(index) => rows[index]}
            columns={isRunning ? columns.columns : columns.columns.filter(({ id }) => !runningColumns.has(id))}
            empty={<NoRows text="No service or method matches the filter." action="Show all" onAction={() => setText("")} />}
          />
        ) : (
          <Loading what="the services" />
        )}
      </ListPage>
    </DropZone>
  );
}
