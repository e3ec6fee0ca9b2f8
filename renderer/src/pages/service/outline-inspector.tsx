import { ActionIcon, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import frame from "../../inspectors/http/exchange-inspector.module.css";
import { ToneMark } from "../../list/tone-mark.tsx";
import { TextWell } from "../../viewer/content-well.tsx";
import { layOutJson } from "../../viewer/json-layout.ts";
import type { RowInspectorProps } from "./row-inspector.tsx";

/** What is kept of a row whose kind has no inspector of its own. */
export function OutlineInspector({ service, row, live, onClose }: RowInspectorProps) {
  const client = useControl();
  const { value: detail, failure } = useAnswer({
    key: [service, "detail", row],
    ask: () => client.call("traffic.detail", { id: service, row }),
    version: live && `${live.tone} ${live.bytesOut}`,
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from anywhere in it.
    <div className={frame.inspector} onKeyDown={(event) => event.key === "Escape" && !event.defaultPrevented && onClose()}>
      <header className={frame.head}>
        <h2 className={frame.name} title={live?.target}>
          <span className={frame.verb}>{live?.verb}</span> {live?.target}
        </h2>
        {live && <ToneMark tone={live.tone} word={live.outcome} />}
        <span className={frame.spring} />
        <Tooltip label="Close (Esc)">
          <ActionIcon aria-label="Close the inspector" onClick={onClose}>
            <IconX size={16} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </header>
      {failure && (
        <p className={frame.note} role="alert">
          {failure.message} {failure.hint}
        </p>
      )}
      {detail === null && <p className={frame.note}>This row is no longer kept: newer ones replaced it, or the list was cleared.</p>}
      {detail !== undefined && detail !== null && (
        <div className={frame.panel}>
          <TextWell label="Details" laidOut={layOutJson(JSON.stringify(detail))} wrap />
        </div>
      )}
    </div>
  );
}
