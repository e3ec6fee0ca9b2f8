import { useState, useSyncExternalStore } from "react";
import type { LocalMedia } from "../media/local-media.ts";
import styles from "../page.module.css";
import { type RelayChoice, relayChoices, relayTitles, whyNoRelay } from "../room/relay-choice.ts";
import type { RoomClient, RoomState } from "../room/room-client.ts";
import { Choice, Field, Notice, Video } from "./controls.tsx";
import { remember, remembered } from "./remembered.ts";

interface YouPanelProps {
  readonly room: RoomClient;
  readonly state: RoomState;
  readonly media: LocalMedia;
  readonly relay: RelayChoice;
  readonly onRelay: (relay: RelayChoice) => void;
  readonly onPhone: () => void;
}

/** What is sent, and the room to join. */
export function YouPanel({ room, state, media, relay, onRelay, onPhone }: YouPanelProps) {
  const { source, stream, isOpening, problem } = useSyncExternalStore(media.subscribe, media.getState);
  const [name, setName] = useState(() => remembered("name", ""));
  const [roomName, setRoomName] = useState(() => remembered("room", "test"));
  const [password, setPassword] = useState("");
  const isIn = state.room !== undefined;
  const join = () => {
    media.resume();
    if (isIn) {
      room.leave();
      return;
    }
    remember("room", roomName.trim());
    room.join(roomName.trim(), name.trim(), password);
  };
  const noRelay = state.signalling === "open" ? whyNoRelay(state.iceServers, relay) : undefined;
  return (
    <section className={styles.panel} aria-label="You">
      <div className={styles.own} data-joined={isIn || undefined}>
        <Video stream={stream} isMuted label="Your own video" />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of buttons, not of fields. */}
      <div className={styles.segments} role="group" aria-label="What you send">
        <button type="button" aria-pressed={source === "test"} onClick={() => void media.choose("test")}>
          Test picture
        </button>
        <button type="button" aria-pressed={source === "camera"} disabled={isOpening} onClick={() => void media.choose("camera")}>
          {isOpening ? "Opening…" : "Camera"}
        </button>
      </div>
      {problem && (
        <Notice tone="warn">
          <strong>{problem.text}</strong> {problem.hint}
          {problem.link !== undefined && (
            <span className={styles.line}>
              <a href={problem.link}>{problem.link}</a>
              <button type="button" className={styles.quiet} onClick={onPhone}>
                About the certificate
              </button>
            </span>
          )}
        </Notice>
      )}
      <form
        className={styles.form}
        data-joined={isIn || undefined}
        onSubmit={(event) => {
          event.preventDefault();
          join();
        }}
      >
        <Field
          label="Name"
          value={name}
          disabled={isIn}
          placeholder="Guest"
          onChange={(value) => {
            setName(value);
            media.name = value.trim();
            remember("name", value.trim());
          }}
        />
        <Field label="Room" value={roomName} disabled={isIn} onChange={setRoomName} />
        <Field label="Password (if the room has one)" type="password" value={password} disabled={isIn} onChange={setPassword} />
        <Choice
          label="Connect over"
          values={Object.fromEntries(relayChoices.map((choice) => [choice, relayTitles[choice]])) as Record<RelayChoice, string>}
          value={relay}
          onChange={onRelay}
        />
        {noRelay !== undefined && <Notice tone="warn">{noRelay}</Notice>}
        <button
          type="submit"
          className={isIn ? styles.button : styles.primary}
          disabled={!isIn && (state.signalling !== "open" || state.isJoining || roomName.trim() === "")}
        >
          {isIn ? "Leave" : state.isJoining ? "Joining…" : "Join"}
        </button>
      </form>
      {state.problem && (
        <Notice tone="bad" onDismiss={() => room.dismissProblem()}>
          {state.problem.text} <code>{state.problem.code}</code>
        </Notice>
      )}
    </section>
  );
}
