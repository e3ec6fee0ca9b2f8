import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { useMemo } from "react";
import { InspectorContent, InspectorFrame, InspectorPanel, type InspectorProps } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../viewer/decode/bytes.ts";

/** A message of a client: from whom, to whom, and as it came. */
export function SignalInspector({ row, detail, onRow, onClose }: InspectorProps<"webrtc-signal">) {
  const { signal, parent, dialect, from, to, room, deliveries, at, bytes, base64 } = detail;
  const content = useMemo(() => ({ bytes: fromBase64(base64), totalBytes: bytes }), [base64, bytes]);
  return (
    <InspectorFrame
      title={
        <>
          <b>{signal}</b> {shownText(row.target)}
        </>
      }
      hint={row.target}
      mono
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} title={row.reason ?? row.outcome} />}
      onClose={onClose}
    >
      <InspectorPanel label="Message">
        <Section
          title="Message"
          actions={
            parent !== undefined && (
              <Button size="compact-xs" rightSection={<IconArrowUpRight size={13} stroke={1.5} />} onClick={() => onRow(parent)}>
                Show the sender
              </Button>
            )
          }
        >
          <Pairs>
            <Pair name="From" mono>
              {shownText(from)}
            </Pair>
            {to !== undefined && (
              <Pair name="To" mono>
                {shownText(to)}
              </Pair>
            )}
            {room !== undefined && <Pair name="Room">{shownText(room)}</Pair>}
            <Pair name="Dialect">{dialect}</Pair>
            <Pair name="Delivered to">{formatCount(deliveries)}</Pair>
            <Pair name="Time" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            {row.reason !== undefined && <Pair name="Refused">{row.reason}</Pair>}
          </Pairs>
        </Section>
        <InspectorContent>
          <ContentViewer
            of="message"
            title="Content"
            content={content}
            contentType={dialect === "service" ? "text/plain" : "application/json"}
            isText
            rememberAs={`webrtc ${signal}`}
            cutBy="Recorded message"
            emptyText="The message is empty."
          />
        </InspectorContent>
      </InspectorPanel>
    </InspectorFrame>
  );
}
