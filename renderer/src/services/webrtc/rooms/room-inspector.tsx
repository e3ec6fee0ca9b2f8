import { Button } from "@mantine/core";
import { useState } from "react";
import { type WebrtcRoomView, webrtcActions } from "../../../../../contract/services/webrtc.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { InspectorFrame, InspectorPanel } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockSeconds, clockTime, isoTime } from "../../../ui/texts/time.ts";
import { requestedLadders } from "../ladder/ladder-scope.ts";
import { ChatForm } from "./chat-form.tsx";
import styles from "./rooms.module.css";

interface RoomInspectorProps {
  readonly room: WebrtcRoomView;
  /** What is known of it is from before. */
  readonly isOver: boolean;
  readonly onClose: () => void;
}

/** A room: who may join, its chat, and what can be done with it. */
export function RoomInspector({ room, isOver, onClose }: RoomInspectorProps) {
  const { name, since, hasPassword, peerCount, chatMessages } = room;
  const [said, setSaid] = useState(0);
  if (isOver) {
    return (
      <InspectorFrame title={`#${name}`} hint={name} mono actions={<SignalsButton room={name} />} onClose={onClose}>
        <InspectorPanel label="Room">
          <Note>The room is over: its last peer has left, or it was closed. It was there since {clockTime(since)}.</Note>
        </InspectorPanel>
      </InspectorFrame>
    );
  }
  return (
    <InspectorFrame title={`#${name}`} hint={name} mono actions={<RoomActions room={room} />} onClose={onClose}>
      <InspectorPanel label="Room">
        <Section title="Room">
          <Pairs>
            <Pair name="Peers">{formatCount(peerCount)}</Pair>
            <Pair name="Password">{hasPassword ? "needed to join" : "none"}</Pair>
            <Pair name="Since" mono title={isoTime(since)}>
              {clockTime(since)}
            </Pair>
          </Pairs>
        </Section>
        <Section title="Say something into it">
          <ChatForm key={said} target={{ room: name }} label={`Message to ${name}`} onSaid={() => setSaid((count) => count + 1)} />
        </Section>
        <Chat room={name} version={chatMessages + said} />
      </InspectorPanel>
    </InspectorFrame>
  );
}

function SignalsButton({ room }: { readonly room: string }) {
  return (
    <Button
      onClick={() => {
        requestedLadders.give("webrtc", { room, peers: [] });
        goTo(servicePage("webrtc", "signals"));
      }}
    >
      Show signals
    </Button>
  );
}

function RoomActions({ room: { name, peerCount } }: { readonly room: WebrtcRoomView }) {
  const client = useControl();
  const confirm = useConfirm();
  const close = async () => {
    const isSure = await confirm({
      title: `Close the room ${name}?`,
      text: `${formatCountOf(peerCount, "peer")} ${peerCount === 1 ? "leaves" : "leave"} it and ${peerCount === 1 ? "stays" : "stay"} connected. Its chat is forgotten.`,
      action: "Close room",
    });
    if (isSure) await attempt(client.action(webrtcActions, "webrtc", "room.close", { room: name }));
  };
  return (
    <>
      <SignalsButton room={name} />
      <Button onClick={() => void close()}>Close room</Button>
    </>
  );
}

function Chat({ room, version }: { readonly room: string; readonly version: number }) {
  const client = useControl();
  const answer = useAnswer({
    key: ["webrtc", "room.chat", room],
    ask: () => client.action(webrtcActions, "webrtc", "room.chat", { room }),
    version,
    restMs: 300,
    keepsPrevious: false,
  });
  return (
    <Section title="Chat" facts={answer.value && formatCountOf(answer.value.length, "message")}>
      <Answered answer={answer} what="the chat" compact>
        {(messages) =>
          messages.length === 0 ? (
            <Note>Nothing was said yet.</Note>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
            <ul className={styles.chat} tabIndex={0} aria-label="Chat, newest first">
              {messages.toReversed().map(({ at, from, name, text }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place.
                <li key={index}>
                  <time title={isoTime(at)}>{clockSeconds(at)}</time>
                  <span>
                    <b title={shownText(from)}>{shownText(name || from)}</b> {shownText(text)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Section>
  );
}
