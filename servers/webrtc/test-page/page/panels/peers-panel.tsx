import { memo, type RefObject, useRef, useState, useSyncExternalStore } from "react";
import styles from "../page.module.css";
import type { ShownPeer } from "../room/peer-calls.ts";
import type { RoomClient } from "../room/room-client.ts";
import { Field, State, Video } from "./controls.tsx";
import { bitRateText, connectionText, connectionTones, countText, failureText, millisecondsText, pathText } from "./texts.ts";

interface PeersPanelProps {
  readonly room: RoomClient;
  /** Of the room; undefined where none was joined. */
  readonly name: string | undefined;
  readonly isRelayOnly: boolean;
}

/** Who is in the room, each with its video. */
export function PeersPanel({ room, name, isRelayOnly }: PeersPanelProps) {
  const { members, cards, others } = useSyncExternalStore(room.peers.subscribe, room.peers.get);
  const [hasSound, setSound] = useState(false);
  const rest = useRef<HTMLElement>(null);
  if (name === undefined)
    return (
      <section className={styles.empty} aria-label="Peers">
        <h2>Nobody is called yet</h2>
        <p>Join a room here, and the same room on another device or in a second window. Everybody in a room calls everybody else.</p>
      </section>
    );
  return (
    <section className={styles.peers} aria-label="Peers">
      <div className={styles.bar}>
        <h2>{name}</h2>
        <span>{members.length === 0 ? "you alone" : `you and ${countText(members.length)} more`}</span>
        <button type="button" className={styles.button} onClick={() => setSound(!hasSound)}>
          {hasSound ? "Sound off" : "Sound on"}
        </button>
      </div>
      {members.length === 0 && (
        <p className={styles.note}>Open this page in a second window or on another device and join the same room.</p>
      )}
      {others.length > 0 && <CallLimit room={room} left={others.length} onShow={() => rest.current?.scrollIntoView()} />}
      <ul className={styles.grid} aria-label="Called peers">
        {cards.map((peer) => (
          <PeerCard key={peer.id} peer={peer} isMuted={!hasSound} isRelayOnly={isRelayOnly} room={room} />
        ))}
      </ul>
      {others.length > 0 && <Others room={room} peers={others} place={rest} />}
    </section>
  );
}

interface PeerCardProps {
  readonly peer: ShownPeer;
  readonly isMuted: boolean;
  readonly isRelayOnly: boolean;
  readonly room: RoomClient;
}

const PeerCard = memo(function PeerCard({ peer, isMuted, isRelayOnly, room }: PeerCardProps) {
  const { call, leftOut } = peer;
  const failure = call ? (failureText(call, isRelayOnly) ?? call.problem) : peer.problem;
  const video = call?.report?.video;
  const pair = call?.report?.pairs.find(({ isUsed }) => isUsed);
  return (
    <li className={styles.card} aria-label={peer.name || peer.id}>
      <div className={styles.picture}>
        {call?.stream ? (
          <Video stream={call.stream} isMuted={isMuted} label={`Video of ${peer.name || peer.id}`} />
        ) : (
          <span>{call ? "No video yet" : "Has not called"}</span>
        )}
      </div>
      <div className={styles.caption}>
        <strong>{peer.name || peer.id}</strong>
        <State tone={call ? connectionTones[call.connection] : "idle"}>{call ? connectionText(call.connection) : "No call"}</State>
        <button type="button" className={styles.quiet} onClick={() => room.call(peer.id)}>
          {call ? "Call again" : "Call"}
        </button>
      </div>
      {call && (
        <p className={styles.facts}>
          {pair && <span>{pathText(pair)}</span>}
          {video && video.width > 0 && <span>{`${video.width}×${video.height}, ${video.framesPerSecond} fps, ${video.codec}`}</span>}
          {call.report && <span>{`${bitRateText(call.report.receivedBitRate)} in, ${bitRateText(call.report.sentBitRate)} out`}</span>}
          {call.pingMs !== undefined && <span title="Over the data channel">{`ping ${millisecondsText(call.pingMs)}`}</span>}
        </p>
      )}
      {failure !== undefined && (
        <p className={styles.failure} role="status">
          {failure}
        </p>
      )}
      {leftOut > 0 && (
        <p className={styles.failure}>{`It signals faster than this page takes: ${countText(leftOut)} signals were left out.`}</p>
      )}
    </li>
  );
});

/** Rows at once; a part of a name finds the others. */
const mostRows = 100;

interface CallLimitProps {
  readonly room: RoomClient;
  readonly left: number;
  readonly onShow: () => void;
}

/** A browser does not bear a call with each of hundreds. */
const CallLimit = ({ room: { callLimit }, left, onShow }: CallLimitProps) => (
  <div className={styles.limit}>
    <p>
      {callLimit === 0
        ? "This page calls nobody by itself."
        : `This page calls ${callLimit === 1 ? "one peer" : `${countText(callLimit)} peers`} by itself: more would make the browser slow.`}{" "}
      {`${left === 1 ? "One is" : `${countText(left)} are`} not called: press Call beside a peer to call it. “Calls of the test page” in Config of the WebRTC service has the number.`}
    </p>
    <button type="button" className={styles.button} onClick={onShow}>
      Show not called
    </button>
  </div>
);

interface OthersProps {
  readonly room: RoomClient;
  readonly peers: readonly ShownPeer[];
  readonly place: RefObject<HTMLElement | null>;
}

/** Those that this page does not call by itself. */
function Others({ room, peers, place }: OthersProps) {
  const [part, setPart] = useState("");
  const wanted = part.trim().toLowerCase();
  const found = wanted === "" ? peers : peers.filter(({ id, name }) => (name || id).toLowerCase().includes(wanted));
  const left = found.length - mostRows;
  return (
    <section ref={place} className={styles.others} aria-label="Not called">
      <h3>{`${countText(peers.length)} not called`}</h3>
      {peers.length > mostRows && <Field label="Find a peer" value={part} onChange={setPart} />}
      <ul className={styles.rows}>
        {found.slice(0, mostRows).map((peer) => (
          <OtherRow key={peer.id} peer={peer} room={room} />
        ))}
      </ul>
      {found.length === 0 && <p className={styles.note}>No peer has this in its name.</p>}
      {left > 0 && <p className={styles.note}>{`${countText(left)} more: write a part of a name to find them.`}</p>}
    </section>
  );
}

const OtherRow = memo(function OtherRow({ peer, room }: { readonly peer: ShownPeer; readonly room: RoomClient }) {
  return (
    <li aria-label={peer.name || peer.id}>
      <strong>{peer.name || peer.id}</strong>
      {peer.isCalling && <State tone="warn">Calls you</State>}
      {peer.problem !== undefined && <span className={styles.failure}>{peer.problem}</span>}
      <button type="button" className={styles.quiet} onClick={() => room.call(peer.id)}>
        {peer.isCalling ? "Answer" : "Call"}
      </button>
    </li>
  );
});
