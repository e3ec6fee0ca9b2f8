import { useMemo } from "react";
import type { DetailPart } from "../../../../contract/traffic/detail.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { WebSocketConnection, WebSocketMessagePart } from "../../../../contract/traffic/websocket.ts";
import { useService } from "../../control/use-store.ts";
import { isUnderWay, type MarkTone, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { timeColumn } from "../../list/columns/traffic-columns.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { decodeText, fromBase64, toHex } from "../../viewer/decode/bytes.ts";
import { CopyMenu } from "../copy-menu.tsx";
import { HeaderListView } from "../header-list.tsx";
import { ConnectionTab } from "../http/connection-tab.tsx";
import { MethodAndTarget } from "../http/http-inspector.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../inspector-frame.tsx";
import { directionText, messagesTab } from "../parts-list.tsx";
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
  const whole = useMemo(() => createWhole(parts.value?.parts ?? []), [parts.value]);
  const columns = useMemo(() => messageColumns(whole), [whole]);
  const route = `ws ${request.target.split("?", 1)[0]}`;
  return (
    <InspectorFrame
      title={<MethodAndTarget method="WS" target={request.target} />}
      hint={redactTarget(request.target)}
      mono
      mark={<ToneMark tone={tone} word={word} title={closed && [closeCodeText(closed.code), closed.reason].filter(Boolean).join(": ")} />}
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
            content: (part) => <MessageContent message={whole(part)} rememberAs={route} />,
            isOpen: isUnderWay(tone),
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
  if (closed) {
    const word = `closed ${closed.code}${closed.reason === "" ? "" : `, ${closed.reason}`}`;
    return [closed.code === 1006 ? "aborted" : "ok", word];
  }
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

/** An echo has the bytes of the message that was sent back, as long as that is known. */
type Whole = (part: WebSocketMessagePart) => WebSocketMessagePart;

function createWhole(parts: readonly DetailPart[]): Whole {
  const received = new Map(parts.filter(isMessage).map((part) => [part.index, part]));
  return (part) => {
    const source = part.echoOf === undefined ? undefined : received.get(part.echoOf);
    return source ? { ...part, body: source.body } : part;
  };
}

const messageColumns = (whole: Whole): readonly Column<WebSocketMessagePart>[] => [
  {
    id: "direction",
    title: "Direction",
    minSample: "echo to client",
    rank: 1,
    cell: ({ direction, echoOf }) => (echoOf === undefined ? directionText[direction] : "echo to client"),
  },
  timeColumn(2),
  { id: "text", title: "Message", rank: 0, cell: (part) => <code>{previewOf(whole(part))}</code> },
  { id: "size", title: "Size", minSample: "999 kB", align: "end", rank: 3, cell: ({ body }) => formatBytes(body.bytes) },
];

const previewBytes = 150;

function previewOf({ type, body, echoOf }: WebSocketMessagePart): string {
  if (echoOf !== undefined && body.base64 === "" && body.bytes > 0) return `the same as message ${formatCount(echoOf + 1)}`;
  // Four characters of base64 are three bytes.
  const start = fromBase64(body.base64.slice(0, (previewBytes / 3) * 4));
  const text = type === "text" ? decodeText(start, start.length < body.bytes) : undefined;
  return text === undefined ? toHex(start.subarray(0, 24)) : shownText(text.replace(/\s+/g, " "));
}
