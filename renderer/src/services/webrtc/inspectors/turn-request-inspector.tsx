import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { StatusLink } from "../../../list/list-status.tsx";
import { ToneMark } from "../../../list/tone-mark.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";

/** What the codes mean here (RFC 8489 §14.8, RFC 8656 §19). */
const meanings: Readonly<Record<number, string>> = {
  400: "Bad request: the message is not what its method needs.",
  401: "Unauthenticated: without credentials, which the answer asks for, or with wrong ones.",
  403: "Forbidden: this peer is not among those that relays may reach. Config has the list.",
  420: "Unknown attribute: the request has one that must be understood, and is not.",
  437: "Allocation mismatch: this address and port have an allocation already, or have none.",
  438: "Stale nonce: the client repeats the request with the new nonce of the answer.",
  440: "Address family not supported: there are no relays of this family.",
  441: "Wrong credentials: the allocation belongs to another user.",
  442: "Unsupported transport: only UDP is relayed.",
  443: "Peer address family mismatch: the allocation has no relay of this family.",
  486: "Allocation quota reached: the user has as many as it may have.",
  500: "Server error.",
  508: "Insufficient capacity: no port or no place is free.",
};

/** A request of STUN or TURN and its answer. */
export function TurnRequestInspector({ row, detail, onRow, onClose }: InspectorProps<"turn-request">) {
  const { method, code, why, username, software, transport, remote, parent, at } = detail;
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
        <Section title="Answer" actions={parent !== undefined && <StatusLink onClick={() => onRow(parent)}>Open its relay</StatusLink>}>
          <Pairs>
            <Pair name="Result">{code === 0 ? "success" : `error ${code}`}</Pair>
            {why !== undefined && <Pair name="Reason">{why}</Pair>}
          </Pairs>
          {isChallenge && (
            <Note>A first request has no credentials: the answer says which realm and nonce to use. This is no failure.</Note>
          )}
          {!isChallenge && meanings[code] && <Note>{meanings[code]}</Note>}
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
