import { Button, Checkbox, SegmentedControl } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { useControl } from "../../../control/client-context.tsx";
import { useService } from "../../../control/use-store.ts";
import { useCommands } from "../../../ui/commands.ts";
import { Note } from "../../../ui/panel.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { SendButton } from "../../try/send-button.tsx";
import { TryPage } from "../../try/try-page.tsx";
import { TrySection, TrySectionHead } from "../../try/try-section.tsx";
import { ClientLines } from "../client-lines-view.tsx";
import { useWebrtcView } from "../use-webrtc-view.ts";
import { type CallDraft, callDraftSchema, firstCall, offersRelay, type RelayTransport, relayTransports } from "./call-draft.ts";
import { PeerCall } from "./peer-call.ts";
import { TriedCall } from "./tried-call.tsx";
import styles from "./webrtc-try.module.css";

const ways = [
  { value: "relay", label: "By relay" },
  { value: "any", label: "Any way" },
];
const transportTitles: Readonly<Record<RelayTransport, string>> = { udp: "UDP", tcp: "TCP", tls: "TLS" };

/** Two peers of this page that call one another through the service. */
export function WebrtcTry() {
  const client = useControl();
  const service = useService("webrtc");
  const servers = useWebrtcView("offers", ({ iceServers }) => iceServers);
  const [draft, setDraft] = useRemembered("webrtc.try", firstCall, callDraftSchema);
  const [call] = useState(() => new PeerCall(client, draft));
  const view = useSyncExternalStore(call.subscribe, call.view);
  const running = service?.status.state === "running";
  const change = (part: Partial<CallDraft>) => setDraft((known) => ({ ...known, ...part }));
  const isOpen = view.state !== "untried" && view.state !== "ended";
  const canCall = draft.data || draft.video;
  const start = () => {
    if (running && canCall) call.start(draft);
  };
  useCommands([
    { id: "webrtc-start-call", title: "Call", keywords: "try webrtc", enabled: running && canCall, run: start },
    { id: "webrtc-hang-up", title: "Hang up", keywords: "try webrtc stop", enabled: isOpen, run: () => call.stop() },
  ]);
  const offered = relayTransports.filter((transport) => offersRelay(servers ?? [], transport));
  return (
    <TryPage
      label="Try a call"
      onSend={start}
      question={
        <>
          <div className={styles.line}>
            <SegmentedControl aria-label="Way" data={ways} value={draft.way} onChange={(way) => change({ way: way as CallDraft["way"] })} />
            <span className={styles.buttons}>
              {isOpen && <Button onClick={() => call.stop()}>Hang up</Button>}
              <SendButton
                title={isOpen ? "Call again" : "Call"}
                running={running}
                sending={view.state === "opening"}
                isValid={canCall}
                onSend={start}
              />
            </span>
          </div>
          {draft.way === "relay" && (
            <TrySection label="Transport to the relay">
              <TrySectionHead title="Over">
                <SegmentedControl
                  aria-label="Over"
                  data={(offered.length > 0 ? offered : relayTransports).map((value) => ({ value, label: transportTitles[value] }))}
                  value={draft.transport}
                  onChange={(transport) => change({ transport: transport as RelayTransport })}
                />
              </TrySectionHead>
              {draft.transport === "tls" && (
                <Note>
                  Over TLS the browser has to trust Backlot’s certificate for TURN. Settings has its authority and how to trust it; without
                  that the relay cannot be reached.
                </Note>
              )}
            </TrySection>
          )}
          <TrySection label="What is sent">
            <TrySectionHead title="Send" />
            <div className={styles.choices}>
              <Checkbox
                size="xs"
                label="Video of a test picture"
                checked={draft.video}
                onChange={(event) => change({ video: event.currentTarget.checked })}
              />
              <Checkbox
                size="xs"
                label="A message by data channel"
                checked={draft.data}
                onChange={(event) => change({ data: event.currentTarget.checked })}
              />
            </div>
            {!canCall && <Note>Choose what to send.</Note>}
          </TrySection>
          {running && <ClientLines first="browser" isWide />}
          {running && <ClientLines group="media" first="whep" title="Play or publish" isWide />}
        </>
      }
    >
      <TriedCall view={view} running={running} />
    </TryPage>
  );
}
