import { memo, useSyncExternalStore } from "react";
import styles from "../page.module.css";
import type { CandidatePair, CandidateText } from "../room/connection-report.ts";
import type { CallState } from "../room/peer-call.ts";
import type { ShownPeer } from "../room/peer-calls.ts";
import type { RoomClient, RoomState } from "../room/room-client.ts";
import { State, type Tone } from "./controls.tsx";
import { bitRateText, connectionText, connectionTones, countText, millisecondsText } from "./texts.ts";

interface ConnectionPanelProps {
  readonly room: RoomClient;
  readonly iceServers: RoomState["iceServers"];
}

/** The other end makes as many as it likes. */
const mostPairs = 30;

/** States, candidate pairs and rates of each call. */
export function ConnectionPanel({ room, iceServers }: ConnectionPanelProps) {
  const { cards } = useSyncExternalStore(room.peers.subscribe, room.peers.get);
  const called = cards.filter((peer): peer is ShownPeer & { readonly call: CallState } => peer.call !== undefined);
  return (
    <div className={styles.scroll}>
      <h3>ICE servers</h3>
      {iceServers.length === 0 ? (
        <p className={styles.note}>The server offers none.</p>
      ) : (
        <ul className={styles.urls}>{iceServers.flatMap(({ urls }) => [urls].flat().map((url) => <li key={url}>{url}</li>))}</ul>
      )}
      {called.length === 0 && <p className={styles.note}>Calls are shown here as soon as there are some.</p>}
      {called.map(({ id, name, call }) => (
        <Connection key={id} name={name || id} call={call} />
      ))}
    </div>
  );
}

const Connection = memo(function Connection({ name, call }: { readonly name: string; readonly call: CallState }) {
  const { report } = call;
  return (
    <section aria-label={`Connection with ${name}`} className={styles.connection}>
      <h3>
        {name} <State tone={connectionTones[call.connection]}>{connectionText(call.connection)}</State>
      </h3>
      <dl className={styles.pairs}>
        <dt>ICE</dt>
        <dd>{`${call.ice}, candidates ${call.gathering}`}</dd>
        <dt>Signalling</dt>
        <dd>{call.signalling}</dd>
        <dt>Data channel</dt>
        <dd>{call.pingMs === undefined ? "no answer to a ping yet" : `${millisecondsText(call.pingMs)}, ${call.pings} pings answered`}</dd>
        {report && (
          <>
            <dt>Bit rate</dt>
            <dd>{`${bitRateText(report.receivedBitRate)} in, ${bitRateText(report.sentBitRate)} out`}</dd>
          </>
        )}
        {report?.video && (
          <>
            <dt>Video</dt>
            <dd>{`${report.video.framesDecoded} frames decoded, ${report.video.packetsLost} packets lost`}</dd>
          </>
        )}
      </dl>
      {call.problem !== undefined && <p className={styles.failure}>{call.problem}</p>}
      {call.candidateProblems.map(({ url, code, text }) => (
        <p key={`${url} ${code}`} className={styles.failure}>{`${url}: ${code} ${text}`}</p>
      ))}
      <h4>Candidate pairs</h4>
      {!report || report.pairs.length === 0 ? (
        <p className={styles.note}>None yet.</p>
      ) : (
        <ul className={styles.candidates}>
          {report.pairs.slice(0, mostPairs).map((pair) => (
            <Pair key={pair.id} pair={pair} />
          ))}
          {report.pairs.length > mostPairs && <li>{`${countText(report.pairs.length - mostPairs)} more`}</li>}
        </ul>
      )}
    </section>
  );
});

const pairTones: Readonly<Record<string, Tone>> = { succeeded: "ok", failed: "bad", "in-progress": "warn" };

function Pair({ pair }: { readonly pair: CandidatePair }) {
  return (
    <li data-used={pair.isUsed || undefined}>
      <span className={styles.line}>
        <State tone={pairTones[pair.state] ?? "idle"}>{pair.state}</State>
        {pair.isUsed && <span className={styles.chip}>in use</span>}
        {pair.rttMs !== undefined && <span>{millisecondsText(pair.rttMs)}</span>}
      </span>
      <Candidate end="Here" candidate={pair.local} />
      <Candidate end="There" candidate={pair.remote} />
    </li>
  );
}

const Candidate = ({ end, candidate }: { readonly end: string; readonly candidate: CandidateText }) => (
  <span className={styles.line} title={candidate.url}>
    <span className={styles.end}>{end}</span>
    <span>{`${candidate.type}, ${candidate.protocol}`}</span>
    <code>{candidate.address}</code>
  </span>
);
