import { useMemo, useState } from "react";
import type { LogLine } from "../../../contract/traffic.ts";
import { copyText } from "../components/copy-text.ts";
import { attempt, notifyDone } from "../components/notify.tsx";
import { saveFile } from "../components/save-file.ts";
import { useControl } from "../control/client-context.tsx";
import { heldLogLines } from "../control/log-buffer.ts";
import { useLogs } from "../control/use-frame-stores.ts";
import { formatCountOf } from "../format/quantity.ts";
import { type LogFilter, matchesFilter } from "./log-filter.ts";
import { logFile } from "./log-text.ts";

const savedLines = 50_000;

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
    copy: () => attempt(copyText(logFile(lines)).then(() => notifyDone(`Copied ${formatCountOf(lines.length, "line")}`))),
    /** All that the supervisor keeps of it, not only what the window holds. */
    save: () =>
      attempt(
        client
          .call("log.read", { level, text, limit: savedLines, ...(source && { source }) })
          .then((page) => saveFile(`backlot-${source ?? "all"}.log`, logFile(page.lines))),
      ),
  };
}
export type LogView = ReturnType<typeof useLogView>;
