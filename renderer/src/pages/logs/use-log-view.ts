import { useEffect, useMemo, useState } from "react";
import { logText } from "../../../../contract/log.ts";
import { stampedName, startExport } from "../../app/exports/export-words.ts";
import { useControl } from "../../control/client-context.tsx";
import { pacedFrame } from "../../control/frame-store.ts";
import { useReceived, useRowsView } from "../../list/rows/use-list-rows.ts";
import { copyText } from "../../ui/copy/copy-text.ts";
import { attempt, notifyDone } from "../../ui/status/notify.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { createLogRows, type LogFilter } from "./log-rows.ts";

const filterAfterMs = 120;

/** The lines that match a filter, as a live list, with the actions of the log's toolbar. */
export function useLogView({ source, level, text }: LogFilter) {
  const client = useControl();
  const filter = useMemo(() => ({ level, text, ...(source && { source }) }), [source, level, text]);
  const [rows] = useState(() => createLogRows({ read: (query) => client.call("log.read", query), nextFrame: pacedFrame, filter }));
  useReceived(rows, "log");
  useEffect(() => {
    if (rows.view().filter === filter) return;
    const timer = setTimeout(() => void rows.setFilter(filter), filterAfterMs);
    return () => clearTimeout(timer);
  }, [rows, filter]);
  const mode = useRowsView(rows, (view) => view.mode);
  const isEmpty = useRowsView(rows, (view) => view.answered && view.count === 0);

  return {
    rows,
    mode,
    isEmpty,
    toggleFollow: () => (mode === "following" ? rows.scrolled(true) : rows.resume()),
    togglePause: () => (mode === "paused" ? rows.resume() : rows.pause()),
    copy: () => {
      const lines = rows.toArray().reverse();
      return attempt(copyText(lines.map(logText).join("")).then(() => notifyDone(`Copied ${formatCountOf(lines.length, "line")}`)));
    },
    /** All lines that the supervisor keeps, not only those loaded in the window. */
    save: () =>
      attempt(
        startExport(client, {
          source: { kind: "log", ...filter },
          name: stampedName(`backlot-${source ?? "all"}`, "log"),
          item: "line",
        }),
      ),
  };
}
export type LogView = ReturnType<typeof useLogView>;
