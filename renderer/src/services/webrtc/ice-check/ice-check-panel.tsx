import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { IceCheck, IceFinding, IceSideFacts, IceVerdict } from "../../../../../contract/services/webrtc-ice-check.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { type MarkTone, ToneMark } from "../../../list/cells/tone-mark.tsx";
import { LowerPanel } from "../../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../../ui/panel.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { peerName } from "../ladder/ladder-columns.tsx";
import { markLeft, type PeerLabels } from "../peer-labels.ts";
import styles from "./ice-check.module.css";
import { candidatesText, joinedFindings, relaysText, requestsText } from "./ice-check-texts.ts";

const verdicts: Readonly<Record<IceVerdict, { readonly tone: MarkTone; readonly word: string }>> = {
  connected: { tone: "ok", word: "connected" },
  direct: { tone: "ended", word: "can connect directly" },
  waiting: { tone: "pending", word: "not yet" },
  failed: { tone: "failed", word: "not connected" },
};
const findingTones: Readonly<Record<IceFinding["tone"], MarkTone>> = {
  ok: "ok",
  wait: "pending",
  note: "ended",
  warn: "refused",
  bad: "failed",
};
const findingWords: Readonly<Record<IceFinding["tone"], string>> = {
  ok: "connected",
  wait: "waits",
  note: "note",
  warn: "warning",
  bad: "cause",
};

interface IceCheckPanelProps {
  /** The peers whose connection is explained. */
  readonly pair: readonly [string, string] | undefined;
  readonly names: PeerLabels;
  /** Peers that are connected no more. */
  readonly left: ReadonlySet<string>;
  /** It is asked for again when this changes. */
  readonly version: number;
}

/** Below the ladder: why two peers are connected or not, in words. */
export function IceCheckPanel({ pair, names, left, version }: IceCheckPanelProps) {
  const client = useControl();
  const answer = useAnswer({
    key: ["webrtc", "ice.check", ...(pair ?? [])],
    ask: () => client.action(webrtcActions, "webrtc", "ice.check", { peers: pair ? [...pair] : ["", ""] }),
    enabled: pair !== undefined,
    version,
    restMs: 500,
    // Requests of STUN and TURN, and time itself, change it without a signal.
    everyMs: 2_000,
    keepsPrevious: false,
  });
  const check = pair && answer.value;
  const caption = check ? check.sides.map((side) => markLeft(nameOf(side, names), left.has(side.peer))).join(" and ") : undefined;
  return (
    <LowerPanel
      title="ICE check"
      rememberAs="webrtc.ice-check"
      heightPx={176}
      listLabel="Findings of the ICE check"
      heightLabel="Height of the ICE check"
      isEmpty={!check}
      head={
        <>
          {check && <VerdictMark check={check} />}
          <Caption grow title={caption}>
            {check ? caption : pair ? "Neither is known any more." : "Pick two peers to read why they are connected, or not."}
          </Caption>
          <Spring />
        </>
      }
    >
      {check && <IceCheckResult check={check} names={names} />}
    </LowerPanel>
  );
}

/** As the ladder calls it; else as the service knows it. */
const nameOf = ({ peer, name }: IceSideFacts, names: PeerLabels): string => peerName(peer, { ...(name && { [peer]: name }), ...names });

export const VerdictMark = ({ check: { verdict } }: { readonly check: IceCheck }) => (
  <span aria-live="polite">
    <ToneMark {...verdicts[verdict]} />
  </span>
);

/** Findings, then what each side offered and asked for. */
export function IceCheckResult({ check, names }: { readonly check: IceCheck; readonly names: PeerLabels }) {
  return (
    <>
      {joinedFindings(check).map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a finding is its place.
        <li key={index} className={styles.finding} data-tone={finding.tone}>
          <span className={styles.mark}>
            <ToneMark tone={findingTones[finding.tone]} word={findingWords[finding.tone]} />
          </span>
          <span>
            <b>{shownText(finding.text)}</b> {shownText(finding.advice)}
          </span>
        </li>
      ))}
      <li className={styles.sides}>
        {check.sides.map((side) => (
          <div key={side.peer} className={styles.side}>
            <span className={styles.name} title={shownText(side.peer)}>
              {nameOf(side, names)}
              <Caption>{shownText(side.address)}</Caption>
            </span>
            <dl className={styles.facts}>
              <dt>Candidates</dt>
              <dd>{candidatesText(side)}</dd>
              <dt>STUN, TURN</dt>
              <dd>{requestsText(side.requests)}</dd>
              <dt>Relays</dt>
              <dd>{relaysText(side)}</dd>
            </dl>
          </div>
        ))}
      </li>
    </>
  );
}
