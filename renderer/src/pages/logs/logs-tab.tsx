import { useState } from "react";
import { z } from "zod";
import type { LogLevel } from "../../../../contract/log.ts";
import { logLevels } from "../../../../contract/log.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import { ListAnswer } from "../../list/list-answer.tsx";
import { usePauseCommand } from "../../ui/commands.ts";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { LogLines } from "./log-lines.tsx";
import { LogToolbar } from "./log-toolbar.tsx";
import { useLogView } from "./use-log-view.ts";

/** The log of one service. */
export function LogsTab({ id }: { id: ServiceId }) {
  const [level, setLevel] = useRemembered<LogLevel>(`${id}-log-level`, "debug", z.enum(logLevels));
  const [text, setText] = useState("");
  const view = useLogView({ source: id, level, text });
  usePauseCommand({ paused: view.mode === "paused", onToggle: view.togglePause });
  return (
    <>
      <LogToolbar view={view} level={level} onLevel={setLevel} text={text} onText={setText} hasKeys />
      <ListAnswer rows={view.rows} what="the log">
        {!view.isEmpty ? (
          <LogLines rows={view.rows} withSource={false} />
        ) : (
          <EmptyState
            title={text || level !== "debug" ? "No line matches this filter" : "This service has not logged anything yet"}
            text="Its lines appear here, newest last, once it starts. How much it logs is its Log level, in Config."
          />
        )}
      </ListAnswer>
    </>
  );
}
