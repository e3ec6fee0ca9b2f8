import { Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttTryState } from "../../../../../contract/services/mqtt-try.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CheckField, ChoiceField, type DraftForm, draftForm, FormColumns, LabelledLine, TextField } from "../../../ui/forms/draft-form.tsx";
import { PasswordField } from "../../../ui/forms/password-field.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { TryProblem, TrySectionHead } from "../../try/try-section.tsx";
import own from "./mqtt-try.module.css";
import { hasOptions, type ParsedTryClient, type TryClientDraft } from "./try-client-draft.ts";
import { answerText } from "./try-subscribe.tsx";

const willQosChoices = ([0, 1, 2] as const).map((value) => ({ value, label: String(value) }));
const versions = [
  { value: 5, label: "5.0" },
  { value: 4, label: "3.1.1" },
] as const;

interface TryClientSectionProps {
  readonly state: MqttTryState | undefined;
  readonly running: boolean;
  readonly draft: TryClientDraft;
  readonly parsed: ParsedTryClient;
  readonly onDraft: (draft: TryClientDraft) => void;
  readonly password: string;
  readonly onPassword: (password: string) => void;
  readonly onConnect: () => void;
}

/** The client of the Try tab; it stays connected when the page is left. */
export function TryClientSection(props: TryClientSectionProps) {
  const { state, running, draft, parsed, onDraft, onConnect } = props;
  const [open, setOpen] = useRemembered("mqtt.try-client-options", false);
  const form = draftForm(draft, onDraft, parsed);
  const showsOptions = open || ["expirySeconds", "willTopic", "willDelaySeconds"].some((field) => form.problem(field) !== undefined);
  const connected = state?.state === "connected";
  return (
    <section className={own.client} aria-label="Client">
      <TrySectionHead title="Client" isLive state={<StateWords state={running ? state : undefined} clientId={draft.clientId} />}>
        <Button size="compact-xs" variant="subtle" aria-expanded={showsOptions} onClick={() => setOpen(!open)}>
          {showsOptions ? "Fewer options" : hasOptions(draft) ? "Options (some set)" : "Options"}
        </Button>
        {connected ? (
          <DisconnectMenu hasWill={draft.willTopic !== ""} />
        ) : (
          <Button disabled={!running || "problem" in parsed} loading={state?.state === "connecting"} onClick={onConnect}>
            Connect
          </Button>
        )}
      </TrySectionHead>
      <div className={own.who}>
        <ChoiceField form={form} name="version" label="Protocol version" choices={versions} />
        <TextField
          form={form}
          name="clientId"
          mono
          aria-label="Client identifier"
          placeholder="client identifier; empty: assigned by the broker"
        />
      </div>
      {showsOptions && <Options form={form} password={props.password} onPassword={props.onPassword} />}
    </section>
  );
}

/** The name, only if it differs from that in the form. */
function connectedText(state: MqttTryState, clientId: string): string {
  const version = state.version === 5 ? "5.0" : "3.1.1";
  return state.clientId === clientId ? `connected, ${version}` : `connected, ${version}, as ${state.clientId}`;
}

function StateWords({ state, clientId }: { readonly state: MqttTryState | undefined; readonly clientId: string }) {
  if (!state || (state.state === "away" && !state.ended)) return "not connected";
  if (state.state === "connecting") return "connecting…";
  if (state.state === "connected") {
    return (
      <>
        <StatusShape shape="running" /> {connectedText(state, clientId)}
      </>
    );
  }
  const text = state.ended ? answerText(state.ended) : "";
  return <TryProblem title={text}>{text}</TryProblem>;
}

function DisconnectMenu({ hasWill }: { readonly hasWill: boolean }) {
  const client = useControl();
  const leave = (how: "normal" | "with will" | "cut") => void attempt(client.action(mqttActions, "mqtt", "try.disconnect", { how }));
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <Button rightSection={<IconChevronDown size={12} />}>Disconnect</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => leave("normal")}>Disconnect</Menu.Item>
        {hasWill && <Menu.Item onClick={() => leave("with will")}>Disconnect with will</Menu.Item>}
        <Menu.Item onClick={() => leave("cut")}>
          {hasWill ? "Close without DISCONNECT; the will is published" : "Close without DISCONNECT"}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface OptionsProps extends Pick<TryClientSectionProps, "password" | "onPassword"> {
  readonly form: DraftForm<TryClientDraft>;
}

function Options({ form, password, onPassword }: OptionsProps) {
  const { version, willTopic } = form.draft;
  const isV5 = version === 5;
  const hasWill = willTopic !== "";
  return (
    <FormColumns style={{ paddingTop: 10 }}>
      <TextField form={form} name="username" label="User" autoComplete="off" />
      <PasswordField label="Password" autoComplete="new-password" value={password} onChange={onPassword} />
      <LabelledLine label="Session">
        <CheckField form={form} name="cleanStart" label={isV5 ? "Clean start" : "Clean session"} />
      </LabelledLine>
      <TextField
        form={form}
        name="expirySeconds"
        label="Session expiry (s)"
        placeholder="ends with the connection"
        inputMode="numeric"
        disabled={!isV5}
      />
      <TextField form={form} name="willTopic" mono label="Will topic" placeholder="no will" />
      <TextField form={form} name="willPayload" mono label="Will payload" disabled={!hasWill} />
      <LabelledLine label="Will QoS">
        <ChoiceField form={form} name="willQos" label="Quality of service of the will" choices={willQosChoices} disabled={!hasWill} />
        <CheckField form={form} name="willRetain" label="Retain" disabled={!hasWill} />
      </LabelledLine>
      <TextField
        form={form}
        name="willDelaySeconds"
        label="Will delay (s)"
        placeholder="none"
        inputMode="numeric"
        disabled={!isV5 || !hasWill}
      />
    </FormColumns>
  );
}
