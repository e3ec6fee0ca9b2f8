import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { useMemo } from "react";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { WebSocketMessagePart } from "../../../../contract/traffic/websocket.ts";
import { useService } from "../../control/use-store.ts";
import { ToneMark } from "../../list/cells/tone-mark.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { CopyMenu } from "../copy-menu.tsx";
import { InspectorContent, InspectorFrame, InspectorPanel, type InspectorProps } from "../inspector-frame.tsx";
import { Section } from "../section.tsx";
import { useDetail } from "../use-detail.ts";
import { webSocketCopies, webSocketReplay } from "./websocket-copies.ts";

/** One message of a WebSocket, with a link to its connection. */
export function WebSocketMessageInspector({ row, detail, onRow, onClose }: InspectorProps<"websocket-message">) {
  const { parent, index, direction, type, at, tookMs, outcome } = detail;
  const service = useService(row.service);
  const opened = useDetail(row.service, parent, undefined).value?.detail;
  const connection = opened?.kind === "websocket" ? opened : undefined;
  const copies = useMemo(
    () => (connection ? webSocketCopies(webSocketReplay(connection, service, detail)) : []),
    [connection, service, detail],
  );
  const target = redactTarget(connection?.request.target ?? row.target);
  return (
    <InspectorFrame
      title={
        <>
          <b>{`${type} message`}</b> {shownText(target)}
        </>
      }
      hint={target}
      mono
      mark={<ToneMark tone={row.tone} word={outcome} />}
      actions={<CopyMenu rememberAs="copy-websocket-as" choices={copies} />}
      onClose={onClose}
    >
      <InspectorPanel label="Message">
        <Section
          title="Message"
          facts={`number ${formatCount(index + 1)} on this connection`}
          actions={
            <Button size="compact-xs" rightSection={<IconArrowUpRight size={13} stroke={1.5} />} onClick={() => onRow(parent)}>
              Show the connection
            </Button>
          }
        >
          <Pairs>
            <Pair name="Direction">{direction === "received" ? "received from the client" : "sent to the client"}</Pair>
            <Pair name="Time" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            {tookMs !== undefined && <Pair name="Answered after">{formatTook(tookMs)}</Pair>}
          </Pairs>
        </Section>
        <InspectorContent>
          <MessageContent message={detail} rememberAs={`ws ${target.split("?", 1)[0]}`} />
        </InspectorContent>
      </InspectorPanel>
    </InspectorFrame>
  );
}

interface MessageContentProps {
  readonly message: Pick<WebSocketMessagePart, "type" | "body">;
  readonly rememberAs: string;
}

export function MessageContent({ message: { type, body }, rememberAs }: MessageContentProps) {
  const content = useMemo(
    () => ({ bytes: fromBase64(body.base64), totalBytes: body.bytes, hiddenIn: body.hiddenIn, overBudget: body.overBudget }),
    [body],
  );
  return (
    <ContentViewer
      of="message"
      title="Content"
      content={content}
      contentType=""
      isText={type === "text"}
      rememberAs={rememberAs}
      cutBy="Recorded body"
      restBy="Recorded rest of bodies"
      emptyText="The message is empty."
    />
  );
}
