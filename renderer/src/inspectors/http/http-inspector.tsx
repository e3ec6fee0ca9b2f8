import { useMemo } from "react";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import { useService } from "../../control/use-store.ts";
import { isUnderWay, ToneMark, toneOf } from "../../list/cells/tone-mark.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { CopyMenu } from "../copy-menu.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../inspector-frame.tsx";
import { ConnectionTab } from "./connection-tab.tsx";
import { httpCopies, replayOf } from "./copy-as.ts";
import { EventsTab } from "./events-tab.tsx";
import { RequestTab } from "./request-tab.tsx";
import { ResponseTab } from "./response-tab.tsx";
import { TimingTab } from "./timing.tsx";

/** One request and its answer; for an event stream, its events as well. */
export function HttpInspector({ row, detail, onClose }: InspectorProps<"http">) {
  const { method, target } = detail.request;
  const service = useService(row.service);
  const copies = useMemo(() => httpCopies(replayOf(detail, service)), [detail, service]);
  const { tone, word } = toneOf(detail);
  const total = Math.max(row.parts ?? 0, detail.parts?.total ?? 0);
  return (
    <InspectorFrame
      title={<MethodAndTarget method={method} target={target} />}
      hint={`${method} ${redactTarget(target)}`}
      mono
      mark={<ToneMark tone={tone} word={word} title={detail.aborted ?? word} />}
      actions={<CopyMenu rememberAs="copy-as" choices={copies} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.tab"
        first="response"
        tabs={[
          { name: "request", title: "Request", content: <RequestTab exchange={detail} /> },
          { name: "response", title: "Response", content: <ResponseTab exchange={detail} /> },
          ...(detail.parts
            ? [
                {
                  name: "events",
                  title: "Events",
                  content: <EventsTab service={row.service} row={row.id} total={total} isOpen={isUnderWay(tone)} onClose={onClose} />,
                },
              ]
            : []),
          { name: "timing", title: "Timing", content: <TimingTab exchange={detail} /> },
          { name: "connection", title: "Connection", content: <ConnectionTab exchange={detail} /> },
        ]}
      />
    </InspectorFrame>
  );
}

export function MethodAndTarget({ method, target }: { readonly method: string; readonly target: string }) {
  return (
    <>
      <b>{shownText(method)}</b> {shownText(redactTarget(target))}
    </>
  );
}
