import { UnstyledButton } from "@mantine/core";
import { useCallback, useMemo } from "react";
import type { DetailPart } from "../../../../contract/traffic/detail.ts";
import type { GrpcCall, GrpcMessagePart } from "../../../../contract/traffic/grpc.ts";
import { goTo, servicePage } from "../../app/route.ts";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";
import { ConnectionPairs } from "../../inspectors/connection-pairs.tsx";
import { CopyMenu } from "../../inspectors/copy-menu.tsx";
import { HeaderListView } from "../../inspectors/header-list.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../../inspectors/inspector-frame.tsx";
import { directionText, messagesTab } from "../../inspectors/parts-list.tsx";
import { Section } from "../../inspectors/section.tsx";
import { useParts } from "../../inspectors/use-detail.ts";
import { MeasuredPath } from "../../list/cells/path-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { timeColumn } from "../../list/columns/traffic-columns.tsx";
import { Caption, Pair, Pairs } from "../../ui/panel.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { originOf } from "../../ui/texts/address.ts";
import { formatBytes, formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatDurationExact, formatTook, isoTime } from "../../ui/texts/time.ts";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { DeadlineLeft } from "./deadline-left.tsx";
import styles from "./grpc.module.css";
import { messagePreview } from "./message-preview.ts";
import { MessageViewer } from "./message-viewer.tsx";
import { canPush, PushPanel } from "./push-panel.tsx";
import { callCopies } from "./recorded-call.ts";
import { openedRules } from "./replies/rule-commands.ts";
import { useGrpcSchema } from "./schema/use-grpc-schema.ts";
import { StatusDetailsView } from "./status-details-view.tsx";

/** A call: its messages while it goes on, its metadata, and how it ended. */
export function GrpcCallInspector({ row, detail, onClose }: InspectorProps<"grpc-call">) {
  const parts = useParts(row.service, row.id, Math.max(row.parts ?? 0, detail.parts.total));
  const { path, requestHeaders, responseHeaders, trailers } = detail;
  const { method } = detail;
  const schema = useGrpcSchema(method?.revision).value;
  const typeOf = useCallback(
    ({ direction }: Pick<GrpcMessagePart, "direction">) => (direction === "received" ? method?.requestType : method?.responseType) ?? "",
    [method?.requestType, method?.responseType],
  );
  const columns = useMemo(() => messageColumns((part) => messagePreview(schema, typeOf(part), part)), [schema, typeOf]);
  const client = useControl();
  const origin = originOf(useService(row.service));
  const copies = useMemo(
    () => callCopies.map(({ id, title, text }) => ({ id, title, text: () => text(detail, origin, client) })),
    [detail, origin, client],
  );
  const word = row.tone === "pending" ? "open" : row.outcome;
  return (
    <InspectorFrame
      title={<MeasuredPath text={path} quiet />}
      hint={path}
      mono
      mark={<ToneMark tone={rowMark(row)} word={word} title={row.reason ?? word} />}
      actions={<CopyMenu rememberAs="copy-grpc-as" choices={copies} />}
      onClose={onClose}
    >
      <CallSummary row={row} detail={detail} />
      <InspectorTabs
        rememberAs="inspector.grpc-tab"
        tabs={[
          messagesTab({
            parts,
            isPart: isMessage,
            columns,
            content: (part) => <MessageContent message={part} typeName={typeOf(part)} revision={method?.revision} path={path} />,
            isOpen: row.tone === "pending",
            onClose,
          }),
          ...(canPush(detail)
            ? [{ name: "send", title: "Send", content: <PushPanel key={detail.path} row={row.id} detail={detail} /> }]
            : []),
          {
            name: "call",
            title: "Call",
            content: <CallFacts detail={detail} />,
          },
          {
            name: "metadata",
            title: "Metadata",
            content: (
              <>
                <HeaderListView title="Request" headers={requestHeaders} />
                {responseHeaders && <HeaderListView title="Response headers" headers={responseHeaders} />}
                {trailers && <HeaderListView title="Trailers" headers={trailers} />}
              </>
            ),
          },
        ]}
      />
    </InspectorFrame>
  );
}

/** One line above the tabs, and below it why the call was refused. */
function CallSummary({ row, detail }: Pick<InspectorProps<"grpc-call">, "row" | "detail">) {
  const { method, deadlineMs, at, timing, connection, notes } = detail;
  const isOpen = row.tone === "pending";
  const reason = detail.status?.message || row.reason;
  return (
    <div className={styles.summary}>
      <Caption>
        {method?.pattern ?? "not served"}
        {" · "}
        {isOpen ? <OpenFor since={at} /> : formatTook(timing.totalMs ?? row.tookMs ?? 0)}
        {isOpen && deadlineMs !== undefined && (
          <>
            {" · "}
            <DeadlineLeft deadlineAt={at + deadlineMs} />
          </>
        )}
        {" · "}
        <code title="Client">{connection.remote}</code>
      </Caption>
      {reason && <p className={styles.reason}>{shownText(reason)}</p>}
      {notes && <Caption>{shownText(notes.join(" · "))}</Caption>}
    </div>
  );
}

/** Not a live region, like the deadline. */
const OpenFor = ({ since }: { readonly since: number }) => <>{`open for ${formatDurationExact(useNow() - since)}`}</>;

function CallFacts({ detail }: { readonly detail: GrpcCall }) {
  const { status, aborted, method, authority, deadlineMs, timing, connection, requestEncoding, responseEncoding, at } = detail;
  const { protocol, codec, httpMethod, httpVersion, rules } = detail;
  return (
    <>
      <Section title="Status">
        <Pairs>
          <Pair name="Status">{status ? `${status.code} ${status.name}` : (aborted ?? "still open")}</Pair>
          {status && status.message !== "" && <Pair name="Message">{status.message}</Pair>}
          <Pair name="Deadline">{deadlineMs === undefined ? "none" : `${formatTook(deadlineMs)} after it began`}</Pair>
          <Pair name="Began" mono title={isoTime(at)}>
            {clockTime(at)}
          </Pair>
          {timing.headersMs !== undefined && <Pair name="Answered after">{formatTook(timing.headersMs)}</Pair>}
          {timing.halfCloseMs !== undefined && <Pair name="Half-close after">{formatTook(timing.halfCloseMs)}</Pair>}
          {timing.totalMs !== undefined && <Pair name="Took">{formatTook(timing.totalMs)}</Pair>}
          {rules && (
            <Pair name="Reply rule">
              {rules.map(({ key, name }) => (
                <RuleLink key={key} ruleKey={key} name={name} />
              ))}
            </Pair>
          )}
        </Pairs>
      </Section>
      <StatusDetailsView trailers={detail.trailers} revision={method?.revision} />
      <Section title="Method">
        <Pairs>
          <Pair name="Pattern">{method?.pattern ?? "not served"}</Pair>
          {method && (
            <Pair name="Request" mono>
              {method.requestType}
            </Pair>
          )}
          {method && (
            <Pair name="Response" mono>
              {method.responseType}
            </Pair>
          )}
          <Pair name="Compression">{`${requestEncoding} in, ${responseEncoding} out`}</Pair>
        </Pairs>
      </Section>
      <Section title="Connection">
        <Pairs>
          <ConnectionPairs connection={connection} />
          <Pair name="Authority" mono>
            {authority || "none"}
          </Pair>
          <Pair name="Protocol">{`${protocolNames[protocol]}, ${codec === "json" ? "JSON" : "protobuf"}, ${httpMethod} over HTTP/${httpVersion}`}</Pair>
          {connection.clientCertificate !== undefined && <Pair name="Client certificate">{connection.clientCertificate}</Pair>}
          <Pair name="Connection">{`#${connection.id} · call ${formatCount(connection.calls)} on it`}</Pair>
        </Pairs>
      </Section>
    </>
  );
}

/** Opens the rule, if it is still in the file. */
function RuleLink({ ruleKey, name }: { readonly ruleKey: string; readonly name: string }) {
  const open = () => {
    openedRules.give("grpc", ruleKey);
    goTo(servicePage("grpc", "replies"));
  };
  return (
    <UnstyledButton className={styles.link} onClick={open}>
      {shownText(name)}
    </UnstyledButton>
  );
}

const isMessage = (part: DetailPart): part is GrpcMessagePart => part.kind === "grpc-message";
const protocolNames = { grpc: "gRPC", "grpc-web": "gRPC-Web", connect: "Connect" } as const;
const messageColumns = (preview: (part: GrpcMessagePart) => string): readonly Column<GrpcMessagePart>[] => [
  { id: "direction", title: "Direction", minSample: "from client", rank: 1, cell: ({ direction }) => directionText[direction] },
  timeColumn(2),
  { id: "content", title: "Content", rank: 0, cell: (part) => <code>{preview(part)}</code> },
  {
    id: "size",
    title: "Size",
    minSample: "999 kB, 999 kB",
    align: "end",
    rank: 3,
    cell: ({ bytes, wireBytes, compressed }) => (compressed ? `${formatBytes(bytes)}, ${formatBytes(wireBytes)} sent` : formatBytes(bytes)),
  },
];

interface MessageContentProps {
  readonly message: GrpcMessagePart;
  readonly typeName: string;
  readonly revision: string | undefined;
  readonly path: string;
}

function MessageContent({
  message: { base64, bytes, compressed, wireBytes, codec, overBudget },
  typeName,
  revision,
  path,
}: MessageContentProps) {
  const kept = useMemo(() => fromBase64(base64), [base64]);
  return (
    <MessageViewer
      bytes={kept}
      totalBytes={bytes}
      codec={codec}
      typeName={typeName}
      revision={revision}
      rememberAs={path}
      overBudget={overBudget}
      facts={compressed ? `compressed, ${formatBytes(wireBytes)} on the wire` : undefined}
    />
  );
}
