import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import {
  type IceCandidate,
  readCandidate,
  readCarriedSignal,
  readDescription,
} from "../../../../../contract/services/webrtc-description.ts";
import type { WebrtcSignal } from "../../../../../contract/traffic/webrtc.ts";
import { dialectTitles, signalTitle } from "../../../../../contract/traffic/webrtc-words.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { InspectorContent, InspectorFrame, type InspectorProps, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import { StatusLink } from "../../../list/list-status.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { formatBytes, formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import { ContentViewer } from "../../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import styles from "../description/description.module.css";
import { candidateText, DescriptionView } from "../description/description-view.tsx";
import { usePeerName } from "../use-webrtc-view.ts";

/** A message of signalling: its description by sections, or its candidate, and the message as it came. */
export function SignalInspector({ row, detail, onRow, onClose }: InspectorProps<"webrtc-signal">) {
  const { base64, bytes, signal, outcome, to } = detail;
  const shownName = usePeerName(to);
  const receiverName = row.peerName ?? shownName;
  const receiver = receiverName ?? to;
  const content = useMemo(() => fromBase64(base64), [base64]);
  const carried = useMemo(() => readCarriedSignal(new TextDecoder().decode(content)), [content]);
  const description = carried.sdp === undefined ? undefined : readDescription(carried.sdp);
  const candidate = carried.candidate === undefined ? undefined : readCandidate(carried.candidate, carried.mid);
  const message = {
    name: "message",
    title: "Message",
    content: (
      <InspectorContent>
        <ContentViewer
          of="message"
          content={{ bytes: content, totalBytes: bytes }}
          contentType="application/json"
          isText
          rememberAs="webrtc signal"
          title="Message"
        />
      </InspectorContent>
    ),
  };
  const first = description
    ? [{ name: "description", title: "Description", content: <Description detail={detail} description={description} onRow={onRow} /> }]
    : carried.candidate !== undefined
      ? [{ name: "candidate", title: "Candidate", content: <Candidate candidate={candidate} text={carried.candidate} mid={carried.mid} /> }]
      : [];
  const sdp =
    carried.sdp === undefined
      ? []
      : [
          {
            name: "sdp",
            title: "SDP",
            content: (
              <InspectorContent>
                <Sdp sdp={carried.sdp} />
              </InspectorContent>
            ),
          },
        ];
  return (
    <InspectorFrame
      title={shownText(receiver === undefined ? `${signalTitle(signal)} ${row.target}` : `${signal} to ${receiver}`)}
      hint={row.target}
      mono
      mark={<ToneMark tone={row.tone} word={outcome} title={row.reason ?? outcome} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.webrtc-signal-tab"
        tabs={[
          ...first,
          ...sdp,
          message,
          {
            name: "signal",
            title: "Signal",
            content: <SignalFacts detail={detail} sender={row.user} receiver={receiverName} reason={row.reason} />,
          },
        ]}
      />
    </InspectorFrame>
  );
}

function Sdp({ sdp }: { readonly sdp: string }) {
  const bytes = useMemo(() => new TextEncoder().encode(sdp), [sdp]);
  return (
    <ContentViewer
      of="description"
      title="SDP"
      content={{ bytes, totalBytes: bytes.length }}
      contentType="application/sdp"
      isText
      rememberAs="webrtc sdp"
      hasFormats={false}
    />
  );
}

type Compared = "none" | "counterpart" | "previous";

interface DescriptionProps {
  readonly detail: WebrtcSignal;
  readonly description: NonNullable<ReturnType<typeof readDescription>>;
  readonly onRow: (row: number) => void;
}

function Description({ detail, description, onRow }: DescriptionProps) {
  const client = useControl();
  const [compared, setCompared] = useState<Compared>("none");
  const { id, signal } = detail;
  const related = useAnswer({
    key: ["webrtc", "signals.related", id],
    ask: () => client.action(webrtcActions, "webrtc", "signals.related", { row: id }),
    keepsPrevious: false,
  });
  const { counterpart, previous } = related.value ?? {};
  const other = compared === "counterpart" ? counterpart : compared === "previous" ? previous : undefined;
  const before = useAnswer({
    key: ["webrtc", "description", other],
    ask: async () => {
      const found = other === undefined ? null : await client.call("traffic.detail", { id: "webrtc", row: other });
      if (found?.detail.kind !== "webrtc-signal") return null;
      const { sdp } = readCarriedSignal(new TextDecoder().decode(fromBase64(found.detail.base64)));
      return sdp === undefined ? null : (readDescription(sdp) ?? null);
    },
    enabled: other !== undefined,
    keepsPrevious: false,
  });
  const choices = [
    { value: "none", label: "Alone" },
    ...(counterpart === undefined ? [] : [{ value: "counterpart", label: signal === "answer" ? "Beside its offer" : "Beside its answer" }]),
    ...(previous === undefined ? [] : [{ value: "previous", label: "Beside the one before" }]),
  ];
  return (
    <>
      {choices.length > 1 && (
        <Section
          title="Shown"
          actions={
            <SegmentedControl
              aria-label="Compare with"
              data={choices}
              value={other === undefined ? "none" : compared}
              onChange={(value) => setCompared(value as Compared)}
            />
          }
        >
          {other !== undefined && (
            <Note>
              {compared === "counterpart" ? "Marked is what differs from the other side. " : "Marked is what changed since then. "}
              <StatusLink onClick={() => onRow(other)}>Open it</StatusLink>
            </Note>
          )}
        </Section>
      )}
      {other === undefined ? (
        <DescriptionView description={description} />
      ) : (
        <Answered answer={before} what="the other description" compact>
          {(value) =>
            value ? (
              <DescriptionView description={description} before={value} />
            ) : (
              <Note className={styles.count}>It is no longer kept.</Note>
            )
          }
        </Answered>
      )}
    </>
  );
}

interface CandidateProps {
  readonly candidate: IceCandidate | undefined;
  readonly text: string;
  readonly mid: string | undefined;
}

const typeWords = {
  host: "host: an address of the device itself",
  srflx: "server reflexive: its address in front of the router, found by STUN",
  prflx: "peer reflexive: seen by the other peer",
  relay: "relay: an address of a TURN server",
} as const;

function Candidate({ candidate, text, mid }: CandidateProps) {
  if (!candidate) {
    return (
      <Section title="Candidate">
        <Note>{text.trim() === "" ? "The end: the sender has no more candidates." : "This candidate cannot be read."}</Note>
      </Section>
    );
  }
  const { type, transport, address, port, priority, foundation, component, related, tcpType } = candidate;
  return (
    <Section title="Candidate" facts={<code>{candidateText(candidate)}</code>}>
      <Pairs>
        <Pair name="Type">{typeWords[type]}</Pair>
        <Pair name="Transport">{tcpType === undefined ? transport.toUpperCase() : `${transport.toUpperCase()}, ${tcpType}`}</Pair>
        <Pair name="Address" mono>
          {address.endsWith(".local") ? `${address} (multicast DNS: works within its network)` : address}
        </Pair>
        <Pair name="Port">{String(port)}</Pair>
        {related && (
          <Pair name="From" mono>
            {`${related.address}:${related.port}`}
          </Pair>
        )}
        <Pair name="Priority">{formatCount(priority)}</Pair>
        <Pair name="Foundation" mono>
          {foundation}
        </Pair>
        <Pair name="Component">{component === 1 ? "1, RTP" : `${component}, RTCP`}</Pair>
        {mid !== undefined && <Pair name="Section">{mid}</Pair>}
      </Pairs>
    </Section>
  );
}

interface SignalFactsProps {
  readonly detail: WebrtcSignal;
  /** Their names; of one without a name its identifier. */
  readonly sender: string | undefined;
  readonly receiver: string | undefined;
  readonly reason: string | undefined;
}

function SignalFacts({ detail, sender, receiver, reason }: SignalFactsProps) {
  const { at, signal, dialect, from, to, room, deliveries, outcome, bytes } = detail;
  return (
    <Section title="Signal">
      <Pairs>
        <Pair name="Kind">{signalTitle(signal)}</Pair>
        <Pair name="Dialect">{dialectTitles[dialect]}</Pair>
        <Pair name="From" mono>
          {namedPeer(from, sender)}
        </Pair>
        {to !== undefined && (
          <Pair name="To" mono>
            {namedPeer(to, receiver)}
          </Pair>
        )}
        {room !== undefined && <Pair name="Room">{room}</Pair>}
        <Pair name="Sent on to">{deliveries === 1 ? "1 client" : `${formatCount(deliveries)} clients`}</Pair>
        <Pair name="Result">{outcome}</Pair>
        {reason !== undefined && <Pair name="Reason">{reason}</Pair>}
        <Pair name="Came at" mono title={isoTime(at)}>
          {clockTime(at)}
        </Pair>
        <Pair name="Size">{formatBytes(bytes)}</Pair>
      </Pairs>
    </Section>
  );
}

const namedPeer = (peer: string, name: string | undefined): string =>
  shownText(name === undefined || name === peer ? peer : `${name}, ${peer}`);
