import { notifications } from "@mantine/notifications";
import { IconCheck, IconDownload } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import type { ExportView } from "../../../../contract/export.ts";
import { useControl, useStores } from "../../control/client-context.tsx";
import { useStore } from "../../control/use-store.ts";
import { attempt, noteClassNames } from "../../ui/status/notify.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import { ExportToast } from "./export-toast.tsx";
import { exportTitle } from "./export-words.ts";

/** Every export of this Backlot has a notification while it runs and for some time after; one that ended before the page was opened has none. */
export function ExportToasts(): null {
  const client = useControl();
  const exports = useStore(useStores().exports);
  const known = useRef<Map<string, ExportView>>(undefined);

  useEffect(() => {
    if (!exports) return;
    known.current ??= new Map(exports.filter(isOver).map((view) => [noteId(view), view]));
    for (const view of exports) {
      const before = known.current.get(noteId(view));
      // Before it runs the browser or the system asks for the file.
      if (view.state === "waiting" || before === view || (before && isOver(before))) continue;
      known.current.set(noteId(view), view);
      const cancel = () => void attempt(client.call("export.cancel", { id: view.id }));
      const note = {
        id: noteId(view),
        title: exportTitle(view),
        message: <ExportToast view={view} onCancel={cancel} />,
        // Its end is announced, its progress is not.
        role: isOver(view) ? "alert" : "group",
        icon: <ExportIcon {...view} />,
        autoClose: closesAfter(view),
        withCloseButton: isOver(view),
        closeButtonProps: { "aria-label": "Dismiss" },
        classNames: noteClassNames,
      };
      if (before) notifications.update(note);
      else notifications.show(note);
    }
  }, [client, exports]);
  return null;
}

const isOver = ({ endedAt }: ExportView) => endedAt !== undefined;
/** After a restart of Backlot, ids start at 1 again. */
const noteId = ({ id, startedAt }: ExportView) => `export-${id}-${startedAt}`;

function closesAfter({ state }: ExportView): number | false {
  switch (state) {
    case "waiting":
    case "running":
      return false;
    case "done":
      return 8_000;
    case "cancelled":
      return 4_000;
    case "failed":
      return 15_000;
    default:
      return state satisfies never;
  }
}

function ExportIcon({ state, items }: Pick<ExportView, "state" | "items">) {
  switch (state) {
    case "waiting":
    case "running":
      return <IconDownload size={16} stroke={1.5} color="var(--bl-accent)" aria-hidden="true" />;
    case "done":
      if (items === 0) return <StatusShape shape="warning" />;
      return <IconCheck size={16} stroke={1.75} color="var(--bl-ok)" aria-hidden="true" />;
    case "cancelled":
      return <StatusShape shape="stopped" />;
    case "failed":
      return <StatusShape shape="failed" />;
    default:
      return state satisfies never;
  }
}
