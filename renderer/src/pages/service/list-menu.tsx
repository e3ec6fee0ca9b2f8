import { Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import type { ServiceId } from "../../../../contract/service.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { stampedName, startExport } from "../../app/exports/export-words.ts";
import { useControl } from "../../control/client-context.tsx";
import type { TrafficRows } from "../../list/rows/traffic-rows.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { servicePages } from "../../services/registry.ts";
import { CommandItems } from "../../ui/command-items.tsx";
import { type Command, useCommands } from "../../ui/commands.ts";
import { attempt } from "../../ui/status/notify.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { IconMenu } from "../../ui/toolbar.tsx";

const formats = [
  { format: "har", title: "HAR" },
  { format: "jsonl", title: "JSON Lines" },
] as const;
/** HAR has a place for exchanges over HTTP only. */
const isOfHttp = (id: ServiceId): boolean => servicePages.get(id)?.inspectors.http !== undefined;

interface ListMenuProps {
  readonly rows: TrafficRows;
  readonly ids: readonly ServiceId[];
  /** Of the exported file: "backlot-http". */
  readonly stem: string;
  /** "request" */
  readonly item: string;
  /** The one whose commands are shown first. */
  readonly chosen: TrafficRow | undefined;
  readonly commandsOf: (row: TrafficRow) => readonly Command[];
}

/** What can be done with the chosen row and with all rows that match; the palette offers the same. */
export function ListMenu({ rows, ids, stem, item, chosen, commandsOf }: ListMenuProps) {
  const client = useControl();
  const hasRows = useRowsView(rows, (view) => view.count > 0);
  // Rows change in place: whether it has ended decides what can be done with it.
  useRowsView(rows, () => chosen?.tone);
  const label = chosen && shownText(`${chosen.verb} ${redactTarget(chosen.target)}`);
  const ofRow = chosen ? commandsOf(chosen) : [];
  const offered = formats.filter(({ format }) => format !== "har" || ids.some(isOfHttp));
  const ofList = [false, true].flatMap((credentials) =>
    offered.map(
      ({ format, title }): Command => ({
        id: `list-export-${format}${credentials ? "-credentials" : ""}`,
        title: `Export as ${title}${credentials ? ", with credentials" : ""}`,
        keywords: "save download",
        enabled: hasRows,
        run: () => {
          void attempt(
            startExport(client, {
              source: { kind: "traffic", ids: [...ids], ...rows.view().filter, format, credentials },
              name: stampedName(stem, format),
              item,
            }),
          );
        },
      }),
    ),
  );
  useCommands([...ofRow, ...ofList]);
  return (
    <IconMenu label="More: export, copy, send again" icon={IconDots} width={256}>
      {chosen && (
        <>
          <Menu.Label title={label}>{label}</Menu.Label>
          <CommandItems commands={ofRow} />
          <Menu.Divider />
        </>
      )}
      <Menu.Label>The rows that match</Menu.Label>
      <CommandItems commands={ofList} />
    </IconMenu>
  );
}
