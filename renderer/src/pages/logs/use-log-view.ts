import { useMemo, useState } from "react";
import { type LogLevel, type LogLine, type LogSource, logLevels, logText } from "../../../../contract/log.ts";
import { stampedName, startExport } from "../../app/exports/export-words.ts";
import { useControl } from "../../control/client-context.tsx";
import { heldLogLines } from "../../control/log-buffer.ts";
import { useLogs } from "../../control/use-store.ts";
import { copyText } from "../../ui/copy/copy-text.ts";
import { attempt, notifyDone } from "../../ui/status/notify.tsx";
import { formatCountOf } from "../../ui/texts/quantity.ts";

export interface LogFilter {
  readonly source?: LogSource;
  /** This level and above. */
  readonly level: LogLevel;
  readonly text: string;
}

export function matchesFilter(line: LogLine, { source, level, text }: LogFilter): boolean {
  return (
    (source === undefined || line.source === source) &&
    logLevels.indexOf(line.level) >= logLevels.indexOf(level) &&
    (text === "" || line.text.toLowerCase().includes(text.toLowerCase()))
  );
}

/** The lines that pass a filter, held still while paused. */
export function useLogView(filter: LogFilter) {
  const client = useControl();
  const { lines: live, dropped } = useLogs();
  const [held, setHeld] = useState<readonly LogLine[]>();
  const [follow, setFollow] = useState(true);
  const { source, level, text } = filter;
  const shown = held ?? live;
  const lines = useMemo(
    () => shown.filter((line) => matchesFilter(line, { level, text, ...(source && { source }) })),
    [shown, source, level, text],
  );
  const heldUpTo = held?.at(-1)?.seq ?? -1;
  const arrived = held ? live.filter((line) => line.seq > heldUpTo && matchesFilter(line, filter)).length : 0;
  const isFull = live.length >= heldLogLines;

  return {
    lines,
    dropped,
    follow,
    setFollow,
    paused: held !== undefined,
    arrived,
    /** The window has let go of older lines than these, so its counts are of the newest only. */
    isFull,
    togglePause: () => setHeld((was) => (was ? undefined : live)),
    copy: () => attempt(copyText(lines.map(logText).join("")).then(() => notifyDone(`Copied ${formatCountOf(lines.length, "line")}`))),
    /** All that the supervisor keeps of it, not only what the window holds. */
    save: () =>
      attempt(
        startExport(client, {
          source: { kind: "log", level, text, ...(source && { source }) },
          name: stampedName(`backlot-${source ?? "all"}`, "log"),
          item: "line",
        }),
      ),
  };
}
export type LogView = ReturnType<typeof useLogView>;
