import { useState, useSyncExternalStore } from "react";
import type { LocalMedia } from "../media/local-media.ts";
import styles from "../page.module.css";
import { configurationFor, type RelayChoice } from "../room/relay-choice.ts";
import type { RoomState } from "../room/room-client.ts";
import type { StreamDirection } from "../streams/http-session.ts";
import type { StreamClient, StreamState } from "../streams/stream-client.ts";
import { Field, Notice, State, Video } from "./controls.tsx";
import { remember, remembered } from "./remembered.ts";
import { bitRateText, connectionText, connectionTones } from "./texts.ts";

interface StreamsPanelProps {
  readonly player: StreamClient;
  readonly publisher: StreamClient;
  readonly media: LocalMedia;
  readonly room: RoomState;
  readonly relay: RelayChoice;
}

/** Plays a path of the RTSP service by WHEP, and publishes one by WHIP. */
export function StreamsPanel({ player, publisher, media, room, relay }: StreamsPanelProps) {
  return (
    <div className={styles.scroll}>
      <Stream
        {...{ direction: "play", title: "Play a stream", client: player, media, room, relay }}
        note="A path of the RTSP service, by WHEP."
        firstPath="test"
      />
      <Stream
        {...{ direction: "publish", title: "Publish", client: publisher, media, room, relay }}
        note="What you send goes to a path of the RTSP service, by WHIP."
        firstPath="phone"
      />
    </div>
  );
}

interface StreamProps {
  readonly direction: StreamDirection;
  readonly title: string;
  readonly note: string;
  readonly firstPath: string;
  readonly client: StreamClient;
  readonly media: LocalMedia;
  readonly room: RoomState;
  readonly relay: RelayChoice;
}

function Stream({ direction, title, note, firstPath, client, media, room, relay }: StreamProps) {
  const state = useSyncExternalStore(client.subscribe, client.getState);
  const key = direction === "play" ? "play" : "publish";
  const [path, setPath] = useState(() => remembered(key, firstPath));
  const [hasSound, setSound] = useState(false);
  const isIdle = state.state === "idle";
  const submit = () => {
    media.resume();
    if (!isIdle) {
      client.stop();
      return;
    }
    const trimmed = path.trim().replace(/^\/+/, "");
    remember(key, trimmed);
    void client.open({ direction, path: trimmed, configuration: configurationFor(room.iceServers, relay), media: media.getState().stream });
  };
  return (
    <section className={styles.stream} aria-label={title}>
      <h3>{title}</h3>
      <p className={styles.note}>{note}</p>
      <form
        className={styles.write}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Path" value={path} disabled={!isIdle} onChange={setPath} />
        <button type="submit" className={styles.button} disabled={path.trim() === ""}>
          {isIdle ? (direction === "play" ? "Play" : "Publish") : "Stop"}
        </button>
      </form>
      {state.state === "idle" && state.problem !== undefined && <Notice tone="bad">{state.problem}</Notice>}
      {state.state === "opening" && <p className={styles.note}>Asking the server…</p>}
      {state.state === "open" && direction === "play" && (
        <>
          <div className={styles.picture}>
            <Video stream={state.stream} isMuted={!hasSound} label={`Stream ${path}`} />
          </div>
          <button type="button" className={styles.button} onClick={() => setSound(!hasSound)}>
            {hasSound ? "Sound off" : "Sound on"}
          </button>
        </>
      )}
      {state.state === "open" && <StreamFacts state={state} direction={direction} />}
    </section>
  );
}

function StreamFacts({
  state,
  direction,
}: {
  readonly state: Extract<StreamState, { state: "open" }>;
  readonly direction: StreamDirection;
}) {
  const { report, connection, notes } = state;
  const video = report?.video;
  return (
    <>
      <p className={styles.facts}>
        <State tone={connectionTones[connection]}>{connectionText(connection)}</State>
        {video && video.width > 0 && <span>{`${video.width}×${video.height}, ${video.framesPerSecond} fps, ${video.codec}`}</span>}
        {report && <span>{bitRateText(direction === "play" ? report.receivedBitRate : report.sentBitRate)}</span>}
        {video && <span>{`${video.framesDecoded} frames decoded`}</span>}
      </p>
      {notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
    </>
  );
}
