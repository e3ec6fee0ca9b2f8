import { Button, SegmentedControl, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { z } from "zod";
import { type HttpViews, httpActions } from "../../../../contract/services/http.ts";
import type { WebSocketTried } from "../../../../contract/services/websocket-try.ts";
import { useControl } from "../../control/client-context.tsx";
import { useService, viewsOf } from "../../control/use-store.ts";
import { asJavaScript, asWebsocat } from "../../inspectors/websocket/websocket-copies.ts";
import { useHandover } from "../../pages/service/handover.ts";
import { useCommands } from "../../ui/commands.ts";
import { inBash } from "../../ui/copy/shells.ts";
import { CodeArea } from "../../ui/forms/code-area.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { isPickedAtStart, originOf } from "../../ui/texts/address.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { HeaderEditor } from "../try/header-editor.tsx";
import { SameAs } from "../try/same-as.tsx";
import { SendButton } from "../try/send-button.tsx";
import { TargetField, TryLine } from "../try/try-fields.tsx";
import { TryPage } from "../try/try-page.tsx";
import { TryProblem, TrySection, TrySectionHead } from "../try/try-section.tsx";
import {
  firstSocket,
  type MessageType,
  messageBytes,
  openParams,
  parseClose,
  recordedSockets,
  replayOfDraft,
  type SocketDraft,
  sendParams,
  socketDraftSchema,
  socketWithoutCredentials,
} from "./socket-draft.ts";
import { TriedSocket } from "./tried-socket.tsx";
import styles from "./try-form.module.css";

const useHttpView = viewsOf<HttpViews>("http");
const untried: WebSocketTried = { state: "untried" };

const types: readonly { readonly value: MessageType; readonly label: string }[] = [
  { value: "text", label: "Text" },
  { value: "binary", label: "Binary" },
];
const languages = [
  { value: "websocat", label: inBash("websocat") },
  { value: "javascript", label: "JavaScript" },
] as const;
type Language = (typeof languages)[number]["value"];
const firstLanguage: Language = "websocat";
const headerNames = ["Authorization", "Cookie", "Origin", "User-Agent"];

/** Opens a WebSocket to the service, sends messages, and shows those of both directions and how it was closed. */
export function WebSocketTry({ kinds }: { readonly kinds: ReactNode }) {
  const client = useControl();
  const service = useService("http");
  const state = useHttpView("socket") ?? untried;
  const [draft, setDraft] = useRemembered("try.socket", firstSocket, socketDraftSchema, { keeps: socketWithoutCredentials });
  const [language, setLanguage] = useRemembered<Language>("try.socket.language", firstLanguage, z.enum(["websocat", "javascript"]));
  useHandover(recordedSockets, "http", (taken) => setDraft((known) => ({ ...known, ...taken })));
  const set = (part: Partial<SocketDraft>) => setDraft((known) => ({ ...known, ...part }));
  const origin = originOf(service);
  const running = service?.status.state === "running";
  const isOpen = running && state.state === "open";
  const bytes = messageBytes(draft);
  const connect = () => {
    if (running && state.state !== "connecting") void attempt(client.action(httpActions, "http", "socket.open", openParams(draft)));
  };
  const send = () => {
    if (isOpen && bytes) void attempt(client.action(httpActions, "http", "socket.send", sendParams(draft, bytes)));
  };
  useCommands([
    { id: "socket-open", title: isOpen ? "Connect the WebSocket again" : "Connect the WebSocket", enabled: running, run: connect },
    {
      id: "socket-cut",
      title: "Cut the WebSocket without a close frame",
      enabled: isOpen,
      run: () => void attempt(client.action(httpActions, "http", "socket.close", { cut: true })),
    },
  ]);
  const replay = replayOfDraft(draft, origin);
  return (
    <TryPage
      label="Try a WebSocket"
      onSend={isOpen ? send : connect}
      question={
        <>
          {kinds}
          <TryLine>
            <TargetField
              label="Path and query"
              value={draft.target}
              suggestions={["/ws/echo"]}
              offersAll
              onChange={(target) => set({ target })}
              onPick={(target) => set({ target })}
            />
            {isOpen ? (
              <Button miw={86} onClick={connect}>
                Connect again
              </Button>
            ) : (
              <SendButton title="Connect" running={running} sending={running && state.state === "connecting"} onSend={connect} />
            )}
          </TryLine>
          <HeaderEditor headers={draft.headers} names={headerNames} onChange={(headers) => set({ headers })} />
          <TrySection label="Subprotocols">
            <TrySectionHead title="Subprotocols" />
            <TextInput
              aria-label="Subprotocols to offer"
              placeholder="chat, superchat"
              value={draft.protocols}
              spellCheck={false}
              onChange={(event) => set({ protocols: event.currentTarget.value })}
            />
          </TrySection>
          <TrySection label="Message to send">
            <TrySectionHead title="Message" state={bytes === undefined && <TryProblem>not valid hex</TryProblem>} isLive>
              <SegmentedControl
                aria-label="Type of the message"
                data={types.map((type) => ({ ...type }))}
                value={draft.type}
                onChange={(type) => set({ type: type as MessageType })}
              />
              <Button
                variant={isOpen ? "filled" : "default"}
                disabled={!isOpen || bytes === undefined}
                title={isOpen ? "Send (Ctrl Enter)" : "Connect first"}
                onClick={send}
              >
                Send message
              </Button>
            </TrySectionHead>
            <CodeArea
              aria-label={draft.type === "text" ? "Message to send" : "Message to send, as hex"}
              placeholder={draft.type === "text" ? "empty message" : "01 ff 2a"}
              value={draft.message}
              minRows={3}
              maxRows={10}
              onChange={(message) => set({ message })}
            />
          </TrySection>
          <Closing draft={draft} onDraft={set} isOpen={isOpen} />
          {!isPickedAtStart(origin) && (
            <SameAs
              languages={languages}
              language={language}
              onLanguage={setLanguage}
              text={language === "websocat" ? asWebsocat(replay) : asJavaScript(replay)}
              copies="the lines"
            />
          )}
        </>
      }
    >
      <TriedSocket state={state} running={running} />
    </TryPage>
  );
}

interface ClosingProps {
  readonly draft: SocketDraft;
  readonly onDraft: (part: Partial<SocketDraft>) => void;
  readonly isOpen: boolean;
}

function Closing({ draft, onDraft, isOpen }: ClosingProps) {
  const client = useControl();
  const { params, codeProblem, reasonProblem } = parseClose(draft);
  return (
    <TrySection label="Close frame">
      <TrySectionHead title="Close">
        <Button
          disabled={!isOpen || codeProblem !== undefined || reasonProblem !== undefined}
          onClick={() => void attempt(client.action(httpActions, "http", "socket.close", params))}
        >
          Close
        </Button>
        <Button
          disabled={!isOpen}
          title="Without a close frame: the service sees 1006"
          onClick={() => void attempt(client.action(httpActions, "http", "socket.close", { cut: true }))}
        >
          Cut
        </Button>
      </TrySectionHead>
      <div className={styles.closing}>
        <TextInput
          aria-label="Close code"
          placeholder="no code"
          inputMode="numeric"
          value={draft.closeCode}
          error={codeProblem}
          onChange={(event) => onDraft({ closeCode: event.currentTarget.value })}
        />
        <TextInput
          aria-label="Close reason"
          placeholder="no reason"
          value={draft.closeReason}
          error={reasonProblem}
          onChange={(event) => onDraft({ closeReason: event.currentTarget.value })}
        />
      </div>
    </TrySection>
  );
}
