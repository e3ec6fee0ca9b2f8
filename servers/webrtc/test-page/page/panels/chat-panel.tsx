import { useEffect, useRef, useState } from "react";
import styles from "../page.module.css";
import type { ChatLine, RoomClient, RoomState } from "../room/room-client.ts";
import { Choice } from "./controls.tsx";

const everybody = "everybody";
const mostCharacters = 2_000;

/** Texts to the room and to one of its peers, with those from before one came. */
export function ChatPanel({ room, state }: { readonly room: RoomClient; readonly state: RoomState }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(everybody);
  const end = useRef<HTMLLIElement>(null);
  const last = state.chat.at(-1)?.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new line.
  useEffect(() => {
    // Some browsers return a promise, which is no function to clean up with.
    end.current?.scrollIntoView({ block: "nearest" });
  }, [last]);
  if (state.room === undefined) return <p className={styles.note}>Join a room to write to those in it.</p>;
  const to = state.peers.some(({ id }) => id === chosen) ? chosen : everybody;
  const send = () => {
    if (text.trim() === "") return;
    room.say(text.trim(), to === everybody ? undefined : to);
    setText("");
  };
  return (
    <div className={styles.chat}>
      <ol className={styles.lines} aria-label="Messages" aria-live="polite">
        {state.chat.length === 0 && <li className={styles.note}>Nobody has written yet.</li>}
        {state.chat.map((line) => (
          <Line key={line.key} line={line} to={state.peers.find(({ id }) => id === line.to)?.name ?? line.to} />
        ))}
        <li ref={end} aria-hidden="true" />
      </ol>
      <form
        className={styles.write}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Choice
          label="To"
          values={{ [everybody]: "Everybody", ...Object.fromEntries(state.peers.map(({ id, name }) => [id, name || id])) }}
          value={to}
          onChange={setChosen}
        />
        <label className={styles.field}>
          Message
          <input value={text} maxLength={mostCharacters} autoComplete="off" onChange={({ target }) => setText(target.value)} />
        </label>
        <button type="submit" className={styles.button}>
          Send
        </button>
      </form>
    </div>
  );
}

function Line({ line, to }: { readonly line: ChatLine; readonly to: string | undefined }) {
  const who = line.isOwn ? "You" : line.name;
  return (
    <li className={styles.said} data-own={line.isOwn || undefined}>
      <span className={styles.who}>
        <strong>{who}</strong>
        {line.isPrivate && <span className={styles.chip}>{line.isOwn ? `private, to ${to ?? "one peer"}` : "private"}</span>}
        <time>{new Date(line.at).toLocaleTimeString([], { hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit" })}</time>
      </span>
      <span>{line.text}</span>
    </li>
  );
}
