import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { type RtspTransport, type RtspTried, rtspActions } from "../../../../../contract/services/rtsp.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useService } from "../../../control/use-store.ts";
import { FormColumns } from "../../../ui/forms/draft-form.tsx";
import { PasswordField } from "../../../ui/forms/password-field.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { SendButton } from "../../try/send-button.tsx";
import { TargetField, TryLine } from "../../try/try-fields.tsx";
import { TryPage } from "../../try/try-page.tsx";
import { TrySection, TrySectionHead } from "../../try/try-section.tsx";
import { offeredTransports, PlayWith } from "../play-with.tsx";
import { transportTitles } from "../player-lines.ts";
import { useRtspView } from "../use-rtsp-view.ts";
import { firstPlay, pathOf, playDraftSchema } from "./play-draft.ts";
import { TriedPlay } from "./tried-play.tsx";

const untried: RtspTried = { state: "untried" };

/** A player of our own: plays a path, and shows each step and what arrives. */
export function RtspTry() {
  const client = useControl();
  const service = useService("rtsp");
  const offers = useRtspView("offers");
  const paths = useRtspView("paths")?.paths ?? [];
  const state = useRtspView("try") ?? untried;
  const [draft, setDraft] = useRemembered("rtsp.try", firstPlay, playDraftSchema);
  const [password, setPassword] = useState("");
  const running = service?.status.state === "running";
  const path = pathOf(draft);
  const transports = offeredTransports(offers);
  const transport = transports.includes(draft.transport) ? draft.transport : "tcp";
  const login = draft.username === "" ? {} : { username: draft.username, password };
  const isPlaying = state.state === "connecting" || state.state === "playing";
  const play = () => {
    if (running && path !== "") void attempt(client.action(rtspActions, "rtsp", "try.play", { path, transport, ...login }));
  };
  return (
    <TryPage
      label="Try a stream"
      onSend={play}
      question={
        <>
          <TryLine>
            <TargetField
              label="Path"
              value={draft.path}
              suggestions={paths.map(({ name }) => `/${name}`)}
              offersAll
              hintOf={(suggestion) => paths.find(({ name }) => `/${name}` === suggestion)?.source.title}
              onChange={(next) => setDraft((known) => ({ ...known, path: next }))}
              onPick={(next) => setDraft((known) => ({ ...known, path: next }))}
            />
            {isPlaying && <Button onClick={() => void attempt(client.action(rtspActions, "rtsp", "try.stop", {}))}>Stop</Button>}
            <SendButton title={isPlaying ? "Play again" : "Play"} running={running} sending={false} isValid={path !== ""} onSend={play} />
          </TryLine>
          <TrySection label="Transport">
            <TrySectionHead title="Over">
              <SegmentedControl
                aria-label="Transport"
                data={transports.map((value) => ({ value, label: transportTitles[value] }))}
                value={transport}
                onChange={(value) => setDraft((known) => ({ ...known, transport: value as RtspTransport }))}
              />
            </TrySectionHead>
            <FormColumns>
              <TextInput
                size="xs"
                label="User"
                placeholder={offers?.login ? "some paths need one" : "not needed"}
                autoComplete="off"
                spellCheck={false}
                value={draft.username}
                onChange={(event) => {
                  const username = event.currentTarget.value;
                  setDraft((known) => ({ ...known, username }));
                }}
              />
              <PasswordField label="Password" autoComplete="new-password" value={password} onChange={setPassword} />
            </FormColumns>
          </TrySection>
          {path !== "" && <PlayWith path={path} transport={transport} {...login} />}
        </>
      }
    >
      <TriedPlay state={state} running={running} />
    </TryPage>
  );
}
