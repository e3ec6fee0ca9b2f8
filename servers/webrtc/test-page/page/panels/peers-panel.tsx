import { useState } from "react";
import styles from "../page.module.css";
import type { RoomClient, RoomState, ShownPeer } from "../room/room-client.ts";
import { State, Video } from "./controls.tsx";
import { bitRateText, connectionText, connectionTones, failureText, millisecondsText, pathText } from "./texts.ts";

interface PeersPanelProps {
  readonly room: RoomClient;
  readonly state: RoomState;
  readonly isRelayOnly: boolean;
}

/** Who is in the room, each with its video. */
export function PeersPanel({ room, state, isRelayOnly }: PeersPanelProps) {
  const [hasSound, setSound] = useState(false);
  const { peers } = state;
  if (state.room === undefined)
    return (
      <section className={styles.empty} aria-label="Peers">
        <h2>Nobody is called yet</h2>
        <p>Join a room here, and the same room on another device or in a second window. Everybody in a room calls everybody else.</p>
      </section>
    );
  return (
    <section className={styles.peers} aria-label="Peers">
      <div className={styles.bar}>
        <h2>{state.room}</h2>
        <span>{peers.length === 0 ? "you alone" : `you and ${peers.length} more`}</span>
        <button type="button" className={styles.button} onClick={() => setSound(!hasSound)}>
          {hasSound ? "Sound off" : "Sound on"}
        </button>
      </div>
      {peers.length === 0 && <p className={styles.note}>Open this page in a second window or on another device and join the same room.</p>}
      <ul className={styles.grid}>
        {peers.map((peer) => (
          <PeerCard key={peer.id} peer={peer} isMuted={!hasSound} isRelayOnly={isRelayOnly} onCall={() => room.call(peer.id)} />
        ))}
      </ul>
    </section>
  );
}

interface PeerCardProps {
  readonly peer: ShownPeer;
  readonly isMuted: boolean;
  readonly isRelayOnly: boolean;
  readonly onCall: () => void;
}

function PeerCard({ peer, isMuted, isRelayOnly, onCall }: PeerCardProps) {
  const { call } = peer;
  const failure = call && (failureText(call, isRelayOnly) ?? call.problem);
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
        <button type="button" className={styles.quiet} onClick={onCall}>
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
    </li>
  );
}
