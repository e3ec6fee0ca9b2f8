import type { StunMessageView } from "../../../../../contract/traffic/webrtc.ts";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { FieldRow, FieldRows, FoldedSection, Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import { StatusLink } from "../../../list/list-status.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { formatBytes } from "../../../ui/texts/quantity.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import { turnErrorMeaning } from "../turn-errors.ts";

/** A request of STUN or TURN and its answer. */
export function TurnRequestInspector({ row, detail, onRow, onClose }: InspectorProps<"turn-request">) {
  const { method, code, why, username, software, transport, remote, parent, at, request, answer } = detail;
  const meaning = turnErrorMeaning(code);
  const isChallenge = code === 401 && username === undefined;
  return (
    <InspectorFrame
      title={method}
      mark={<ToneMark tone={row.tone} word={code === 0 ? "success" : String(code)} title={why ?? ""} />}
      onClose={onClose}
    >
      <InspectorPanel label="Request">
        <Section title="Request">
          <Pairs>
            <Pair name="Method">{method}</Pair>
            <Pair name="Client" mono>
              {remote}
            </Pair>
            <Pair name="Over">{transport.toUpperCase()}</Pair>
            <Pair name="User name" mono={username !== undefined}>
              {username ?? "not given"}
            </Pair>
            {software !== undefined && <Pair name="Software">{software}</Pair>}
            <Pair name="Came at" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
          </Pairs>
        </Section>
        {request && <StunAttributes title="Attributes of the request" message={request} />}
        <Section title="Answer" actions={parent !== undefined && <StatusLink onClick={() => onRow(parent)}>Open its relay</StatusLink>}>
          <Pairs>
            <Pair name="Result">{code === 0 ? "success" : `error ${code}`}</Pair>
            {why !== undefined && <Pair name="Reason">{why}</Pair>}
          </Pairs>
          {isChallenge && (
            <Note>A first request has no credentials: the answer says which realm and nonce to use. This is no failure.</Note>
          )}
          {request && !answer && (
            <Note>None was sent: of errors for requests without right credentials an address gets only so many in a second.</Note>
          )}
          {!isChallenge && meaning !== undefined && <Note>{meaning}</Note>}
        </Section>
        {answer && <StunAttributes title="Attributes of the answer" message={answer} />}
      </InspectorPanel>
    </InspectorFrame>
  );
}

/** In the order of the wire. */
function StunAttributes({ title, message: { bytes, attributes } }: { readonly title: string; readonly message: StunMessageView }) {
  return (
    <FoldedSection title={title} facts={`${attributes.length}, ${formatBytes(bytes)}`}>
      <FieldRows>
        {attributes.map(({ name, text, bytes: length }, index) => (
          <FieldRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a name may occur twice, and the list never changes.
            key={`${index} ${name}`}
            name={name}
            {...(text !== "" && { copied: text })}
          >
            {text === "" ? formatBytes(length) : text}
          </FieldRow>
        ))}
      </FieldRows>
    </FoldedSection>
  );
}
