import { Button, Checkbox, Menu, PasswordInput, SegmentedControl, TextInput } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttTryState } from "../../../../../contract/services/mqtt-try.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { StatusShape } from "../../../ui/status-shape.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import styles from "../../try/try-page.module.css";
import { answerText } from "./answer.tsx";
import own from "./mqtt-try.module.css";
import { hasOptions, type ParsedTryClient, type TryClientDraft } from "./try-client-draft.ts";

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

/** As whom the broker is tried: an ordinary client, which stays connected when the page is left. */
export function TryClientSection(props: TryClientSectionProps) {
  const { state, running, draft, parsed, onDraft, onConnect } = props;
  const [open, setOpen] = useRemembered("mqtt.try-client-options", false);
  const set = (part: Partial<TryClientDraft>) => onDraft({ ...draft, ...part });
  const problem = (field: string) => ("problem" in parsed && parsed.field === field ? parsed.problem : undefined);
  const showsOptions = open || problem("expirySeconds") || problem("willTopic") || problem("willDelaySeconds");
  const connected = state?.state === "connected";
  return (
    <section className={own.client} aria-label="Client">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>Client</h2>
        <span className={styles.check} aria-live="polite">
          <StateWords state={running ? state : undefined} clientId={draft.clientId} />
        </span>
        <Button size="compact-xs" variant="subtle" aria-expanded={Boolean(showsOptions)} onClick={() => setOpen(!open)}>
          {showsOptions ? "Fewer options" : hasOptions(draft) ? "Options, some set" : "Options"}
        </Button>
        {connected ? (
          <DisconnectMenu hasWill={draft.willTopic !== ""} />
        ) : (
          <Button disabled={!running || "problem" in parsed} loading={state?.state === "connecting"} onClick={onConnect}>
            Connect
          </Button>
        )}
      </div>
      <div className={own.who}>
        <SegmentedControl
          aria-label="Protocol version"
          data={[
            { value: "5", label: "5.0" },
            { value: "4", label: "3.1.1" },
          ]}
          value={String(draft.version)}
          onChange={(value) => set({ version: value === "4" ? 4 : 5 })}
        />
        <TextInput
          className={own.mono}
          aria-label="Client identifier"
          placeholder="client identifier; empty: the broker gives one"
          value={draft.clientId}
          spellCheck={false}
          error={problem("clientId")}
          onChange={(event) => set({ clientId: event.currentTarget.value })}
        />
      </div>
      {showsOptions && <Options {...props} set={set} problem={problem} />}
    </section>
  );
}

/** The name only where it is another than the form's. */
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
  return (
    <span className={styles.problem} title={text}>
      <StatusShape shape="failed" /> {text}
    </span>
  );
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
        <Menu.Item onClick={() => leave("cut")}>{hasWill ? "Cut off; the will is published" : "Cut off without a word"}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface OptionsProps extends TryClientSectionProps {
  readonly set: (part: Partial<TryClientDraft>) => void;
  readonly problem: (field: string) => string | undefined;
}

function Options({ draft, password, onPassword, set, problem }: OptionsProps) {
  const isV5 = draft.version === 5;
  return (
    <div className={own.options}>
      <TextInput
        label="User"
        autoComplete="off"
        spellCheck={false}
        value={draft.username}
        onChange={(event) => set({ username: event.currentTarget.value })}
      />
      <PasswordInput
        label="Password"
        size="xs"
        autoComplete="new-password"
        value={password}
        onChange={(event) => onPassword(event.currentTarget.value)}
      />
      <Checkbox
        size="xs"
        className={own.beside}
        label={isV5 ? "Clean start" : "Clean session"}
        checked={draft.cleanStart}
        onChange={(event) => set({ cleanStart: event.currentTarget.checked })}
      />
      <TextInput
        label="Session expiry (s)"
        placeholder="with the connection"
        inputMode="numeric"
        disabled={!isV5}
        value={draft.expirySeconds}
        error={problem("expirySeconds")}
        onChange={(event) => set({ expirySeconds: event.currentTarget.value })}
      />
      <TextInput
        className={own.mono}
        label="Will topic"
        placeholder="no will"
        spellCheck={false}
        value={draft.willTopic}
        error={problem("willTopic")}
        onChange={(event) => set({ willTopic: event.currentTarget.value })}
      />
      <TextInput
        className={own.mono}
        label="Will payload"
        spellCheck={false}
        disabled={draft.willTopic === ""}
        value={draft.willPayload}
        onChange={(event) => set({ willPayload: event.currentTarget.value })}
      />
      <div className={own.beside}>
        <SegmentedControl
          aria-label="Quality of service of the will"
          data={[
            { value: "0", label: "QoS 0" },
            { value: "1", label: "1" },
            { value: "2", label: "2" },
          ]}
          disabled={draft.willTopic === ""}
          value={String(draft.willQos)}
          onChange={(value) => set({ willQos: Number(value) as TryClientDraft["willQos"] })}
        />
        <Checkbox
          size="xs"
          label="Retain"
          disabled={draft.willTopic === ""}
          checked={draft.willRetain}
          onChange={(event) => set({ willRetain: event.currentTarget.checked })}
        />
      </div>
      <TextInput
        label="Will delay (s)"
        placeholder="none"
        inputMode="numeric"
        disabled={!isV5 || draft.willTopic === ""}
        value={draft.willDelaySeconds}
        error={problem("willDelaySeconds")}
        onChange={(event) => set({ willDelaySeconds: event.currentTarget.value })}
      />
    </div>
  );
}
