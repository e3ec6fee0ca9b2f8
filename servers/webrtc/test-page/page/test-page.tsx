import { useEffect, useState, useSyncExternalStore } from "react";
import type { LocalMedia } from "./media/local-media.ts";
import styles from "./page.module.css";
import { ChatPanel } from "./panels/chat-panel.tsx";
import { ConnectionPanel } from "./panels/connection-panel.tsx";
import { State } from "./panels/controls.tsx";
import { PeersPanel } from "./panels/peers-panel.tsx";
import { PhonePanel } from "./panels/phone-panel.tsx";
import { StreamsPanel } from "./panels/streams-panel.tsx";
import { YouPanel } from "./panels/you-panel.tsx";
import type { RelayChoice } from "./room/relay-choice.ts";
import type { RoomClient, RoomState } from "./room/room-client.ts";
import { StreamClient } from "./streams/stream-client.ts";

const tabs = { chat: "Chat", connection: "Connection", streams: "Streams", phone: "Phone" } as const;
type Tab = keyof typeof tabs;

interface TestPageProps {
  readonly room: RoomClient;
  readonly media: LocalMedia;
}

export function TestPage({ room, media }: TestPageProps) {
  const state = useSyncExternalStore(room.state.subscribe, room.state.get);
  const [tab, setTab] = useState<Tab>("chat");
  const [relay, setRelay] = useState<RelayChoice>("any");
  const [player] = useState(() => new StreamClient());
  const [publisher] = useState(() => new StreamClient());
  useEffect(() => {
    // A page that is closed leaves nothing open at the server.
    const leave = () => {
      player.stop();
      publisher.stop();
    };
    window.addEventListener("pagehide", leave);
    return () => window.removeEventListener("pagehide", leave);
  }, [player, publisher]);
  const chooseRelay = (choice: RelayChoice) => {
    setRelay(choice);
    room.setRelay(choice);
  };
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <Mark />
        <h1>WebRTC test page</h1>
        <Signalling state={state} />
      </header>
      <main className={styles.columns}>
        <YouPanel {...{ room, state, media, relay }} onRelay={chooseRelay} onPhone={() => setTab("phone")} />
        <PeersPanel room={room} name={state.room} isRelayOnly={relay !== "any"} />
        <section className={styles.side} aria-label={tabs[tab]}>
          <div className={styles.tabs} role="tablist" aria-label="About the room and the streams">
            {(Object.keys(tabs) as Tab[]).map((one) => (
              <button
                key={one}
                type="button"
                role="tab"
                id={`tab-${one}`}
                aria-selected={one === tab}
                aria-controls="tab-panel"
                onClick={() => setTab(one)}
              >
                {tabs[one]}
              </button>
            ))}
          </div>
          <div className={styles.tabPanel} role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
            {tab === "chat" && <ChatPanel room={room} isIn={state.room !== undefined} />}
            {tab === "connection" && <ConnectionPanel room={room} iceServers={state.iceServers} />}
            {tab === "streams" && <StreamsPanel {...{ player, publisher, media, relay }} room={state} />}
            {tab === "phone" && <PhonePanel />}
          </div>
        </section>
      </main>
    </div>
  );
}

function Signalling({ state: { signalling, id } }: { readonly state: RoomState }) {
  switch (signalling) {
    case "open":
      return (
        <span className={styles.line}>
          <State tone="ok">Signalling open</State>
          <code title="The identifier of this peer">{id}</code>
        </span>
      );
    case "connecting":
      return <State tone="warn">Connecting to the server</State>;
    case "closed":
      return <State tone="bad">No connection to the server, trying again</State>;
    default:
      return signalling satisfies never;
  }
}

/** Backlot's mark, as in the dashboard. */
const Mark = () => (
  <svg className={styles.mark} viewBox="-2 -4 24 24" aria-hidden="true">
    <path fill="none" stroke="var(--bl-text-3)" strokeWidth="2" d="m13 4 6 12m-6-5h3.300" />
    <path fill="var(--bl-select-line)" fillRule="evenodd" d="M0 0h14v3h-1v13H6v-6H3v6H1V3H0zm8 10v3h3v-3z" />
  </svg>
);
