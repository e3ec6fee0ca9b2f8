import { memo, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import styles from "../page.module.css";
import type { ChatLine } from "../room/chat-log.ts";
import type { RoomClient } from "../room/room-client.ts";
import type { OtherPeer } from "../room/signalling-messages.ts";
import { countText, timeText } from "./texts.ts";

const everybody = "everybody";
const mostCharacters = 2_000;
/** Of a line at first. */
const shownCharacters = 600;
const shownBreaks = 12;
/** To choose from. */
const mostReceivers = 1_000;
/** How far from the end a list still follows what is said. */
const nearPixels = 40;

/** Texts to the room and to one of its peers, with those from before one came. */
export function ChatPanel({ room, isIn }: { readonly room: RoomClient; readonly isIn: boolean }) {
  const { members } = useSyncExternalStore(room.peers.subscribe, room.peers.get);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(everybody);
  if (!isIn) return <p className={styles.note}>Join a room to write to those in it.</p>;
  const to = chosen !== everybody && members.some(({ id }) => id === chosen) ? chosen : everybody;
  const send = () => {
    if (text.trim() === "") return;
    room.say(text.trim(), to === everybody ? undefined : to);
    setText("");
  };
  return (
    <div className={styles.chat}>
      <Lines room={room} />
      <form
        className={styles.write}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <label className={styles.field}>
          To
          <select value={to} onChange={({ target }) => setChosen(target.value)}>
            <Receivers members={members} />
          </select>
        </label>
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

const Receivers = memo(function Receivers({ members }: { readonly members: readonly OtherPeer[] }) {
  return (
    <>
      <option value={everybody}>Everybody</option>
      {members.slice(0, mostReceivers).map(({ id, name }) => (
        <option key={id} value={id}>
          {name || id}
        </option>
      ))}
      {members.length > mostReceivers && <option disabled>{`${countText(members.length - mostReceivers)} more, not listed`}</option>}
    </>
  );
});

function Lines({ room }: { readonly room: RoomClient }) {
  const entries = useSyncExternalStore(room.chat.subscribe, room.chat.get);
  const list = useRef<HTMLOListElement>(null);
  const isFollowing = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with new lines.
  useLayoutEffect(() => {
    const element = list.current;
    if (element && isFollowing.current) element.scrollTop = element.scrollHeight;
  }, [entries]);
  return (
    <ol
      ref={list}
      className={styles.lines}
      aria-label="Messages"
      aria-live="polite"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < nearPixels;
      }}
    >
      {entries.length === 0 && <li className={styles.note}>Nobody has written yet.</li>}
      {entries.map((entry) =>
        "leftOut" in entry ? <LeftOut key={entry.key} count={entry.leftOut} /> : <Line key={entry.key} line={entry} />,
      )}
    </ol>
  );
}

const LeftOut = memo(function LeftOut({ count }: { readonly count: number }) {
  return (
    <li className={styles.note}>
      {count === 1 ? "1 message came too fast to be shown." : `${countText(count)} messages came too fast to be shown.`}
    </li>
  );
});

const Line = memo(function Line({ line }: { readonly line: ChatLine }) {
  const [isWhole, setWhole] = useState(false);
  const beginning = isWhole ? line.text : beginningOf(line.text);
  return (
    <li className={styles.said} data-own={line.isOwn || undefined}>
      <span className={styles.who}>
        <strong>{line.isOwn ? "You" : line.name}</strong>
        {line.isPrivate && <span className={styles.chip}>{line.isOwn ? `private, to ${line.to ?? "one peer"}` : "private"}</span>}
        <time>{timeText(line.at)}</time>
      </span>
      <span>{beginning.length < line.text.length ? `${beginning}…` : beginning}</span>
      {beginning.length < line.text.length && (
        <button type="button" className={styles.quiet} onClick={() => setWhole(true)}>
          {`Show all ${countText(line.text.length)} characters`}
        </button>
      )}
    </li>
  );
});

function beginningOf(text: string): string {
  // A character of two units is not cut in half.
  let end = (text.codePointAt(shownCharacters - 1) ?? 0) > 0xffff ? shownCharacters - 1 : shownCharacters;
  let at = -1;
  for (let breaks = 0; breaks < shownBreaks; breaks++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) return text.slice(0, end);
  }
  end = at;
  return text.slice(0, end);
}
