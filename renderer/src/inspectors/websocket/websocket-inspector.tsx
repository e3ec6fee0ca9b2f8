import { useMemo } from "react";
import type { DetailPart } from "../../../../contract/traffic/detail.ts";
import type { WebSocketConnection, WebSocketMessagePart } from "../../../../contract/traffic/websocket.ts";
import { useService } from "../../control/use-store.ts";
import type { Column } from "../../list/column.ts";
import { type MarkTone, ToneMark } from "../../list/tone-mark.tsx";
import { timeColumn } from "../../list/traffic-columns.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { formatBytes, formatCountOf } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { decodeText, fromBase64, toHex } from "../../viewer/decode/bytes.ts";
import { CopyMenu } from "../copy-menu.tsx";
import { HeaderListView } from "../header-list.tsx";
import { ConnectionTab } from "../http/connection-tab.tsx";
import { MethodAndTarget } from "../http/http-inspector.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../inspector-frame.tsx";
import { messagesTab } from "../parts-list.tsx";
import { Section } from "../section.tsx";
import { useParts } from "../use-detail.ts";
import { closeCodeText, webSocketCopies, webSocketReplay } from "./websocket-copies.ts";
import { MessageContent } from "./websocket-message-inspector.tsx";

/** A WebSocket: its messages while it is open, its handshake, and how it was closed. */
export function WebSocketInspector({ row, detail, onClose }: InspectorProps<"websocket">) {
  const { request, response, closed } = detail;
  const service = useService(row.service);
  const parts = useParts(row.service, row.id, Math.max(row.parts ?? 0, detail.parts.total));
  const copies = useMemo(() => webSocketCopies(webSocketReplay(detail, service)), [detail, service]);
  const [tone, word] = stateOf(detail);
  const route = `ws ${request.target.split("?", 1)[0]}`;
  return (
    <InspectorFrame
      title={<MethodAndTarget method="WS" target={request.target} />}
      hint={request.target}
      mono
      mark={<ToneMark tone={tone} word={word} title={closed && closeCodeText(closed.code)} />}
      actions={<CopyMenu rememberAs="copy-websocket-as" choices={copies} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.websocket-tab"
        tabs={[
          messagesTab({
            parts,
            isPart: isMessage,
            columns,
            content: (part) => <MessageContent message={part} rememberAs={route} />,
            isOpen: tone === "pending",
            onClose,
          }),
          {
            name: "handshake",
            title: "Handshake",
            content: (
              <>
                <Closing detail={detail} />
                <HeaderListView title="Request headers" headers={request.headers} />
                {response && <HeaderListView title="Response headers" headers={response.headers} />}
              </>
            ),
          },
          { name: "connection", title: "Connection", content: <ConnectionTab exchange={detail} /> },
        ]}
      />
    </InspectorFrame>
  );
}

function stateOf({ closed, response, aborted }: WebSocketConnection): readonly [MarkTone, string] {
  if (closed) return [closed.code === 1006 ? "aborted" : "ok", `closed ${closed.code}`];
  if (response && response.status !== 101) return ["refused", String(response.status)];
  return aborted === undefined ? [response ? "running" : "pending", "open"] : ["aborted", aborted];
}

function Closing({ detail: { closed, parts, response, request } }: { readonly detail: WebSocketConnection }) {
  return (
    <Section title="State">
      <Pairs>
        <Pair name="Close code">{closed ? closeCodeText(closed.code) : "still open"}</Pair>
        {closed && closed.reason !== "" && <Pair name="Reason">{closed.reason}</Pair>}
        <Pair name="Messages">{formatCountOf(parts.total, "message")}</Pair>
        <Pair name="Received">{formatBytes(request.body.bytes)}</Pair>
        <Pair name="Sent">{formatBytes(response?.body.bytes ?? 0)}</Pair>
      </Pairs>
    </Section>
  );
}

const isMessage = (part: DetailPart): part is WebSocketMessagePart => part.kind === "websocket-message";

/** As the service sees it. */
const directionText = { received: "received", sent: "sent" } as const;
const arrows = { received: "↓", sent: "↑" } as const;

const columns: readonly Column<WebSocketMessagePart>[] = [
  {
    id: "direction",
    title: "Direction",
    minSample: "↓ received",
    rank: 1,
    cell: ({ direction }) => `${arrows[direction]} ${directionText[direction]}`,
  },
  timeColumn(2),
  { id: "text", title: "Message", rank: 0, cell: (part) => <code>{previewOf(part)}</code> },
  { id: "size", title: "Size", minSample: "999 kB", align: "end", rank: 3, cell: ({ body }) => formatBytes(body.bytes) },
];

const previewBytes = 150;

function previewOf({ type, body }: WebSocketMessagePart): string {
  // Four characters of base64 are three bytes.
  const start = fromBase64(body.base64.slice(0, (previewBytes / 3) * 4));
  const text = type === "text" ? decodeText(start, start.length < body.bytes) : undefined;
  return text === undefined ? toHex(start.subarray(0, 24)) : shownText(text.replace(/\s+/g, " "));
}
