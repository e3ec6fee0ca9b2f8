import { ActionIcon, Button, Checkbox, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import type { MqttSubscription } from "../../../../../contract/services/mqtt-client.ts";
import type { MqttTryAnswer, MqttTryState, MqttTrySubscribe } from "../../../../../contract/services/mqtt-try.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { subscriptionText } from "../clients/client-text.ts";
import { Answer } from "./answer.tsx";
import own from "./mqtt-try.module.css";
import { parseSubscribeDraft, type SubscribeDraft, usesSubscriptionOptions } from "./subscribe-draft.ts";

interface TrySubscribeProps {
  readonly state: MqttTryState | undefined;
  readonly running: boolean;
  readonly draft: SubscribeDraft;
  readonly onDraft: (draft: SubscribeDraft) => void;
  /** Undefined where it could not be asked; that is shown elsewhere. */
  readonly onSubscribe: (params: MqttTrySubscribe) => Promise<MqttTryAnswer | undefined>;
  readonly onUnsubscribe: (filter: string) => void;
}

/** A subscription with every option, and those that there are. */
export function TrySubscribe({ state, running, draft, onDraft, onSubscribe, onUnsubscribe }: TrySubscribeProps) {
  const [open, setOpen] = useRemembered("mqtt.try-subscribe-options", false);
  const [answer, setAnswer] = useState<MqttTryAnswer>();
  const parsed = parseSubscribeDraft(draft);
  const set = (part: Partial<SubscribeDraft>) => {
    setAnswer(undefined);
    onDraft({ ...draft, ...part });
  };
  const problem = (field: string) => ("problem" in parsed && parsed.field === field ? parsed.problem : undefined);
  const showsOptions = open || problem("identifier") || problem("noLocal");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ("params" in parsed && running) void onSubscribe(parsed.params).then(setAnswer);
  };
  return (
    <form className={own.subscribe} onSubmit={submit}>
      <div className={own.subscribeLine}>
        <TextInput
          className={`${own.mono} ${own.grow}`}
          aria-label="Topic filter"
          placeholder="Topic filter, + and # work"
          value={draft.filter}
          spellCheck={false}
          error={problem("filter")}
          onChange={(event) => set({ filter: event.currentTarget.value })}
        />
        <SegmentedControl
          aria-label="Highest quality of service"
          data={["0", "1", "2"].map((value) => ({ value, label: `QoS ${value}` }))}
          value={String(draft.qos)}
          onChange={(value) => set({ qos: Number(value) as SubscribeDraft["qos"] })}
        />
        <Button type="submit" disabled={!running || "problem" in parsed}>
          Subscribe
        </Button>
      </div>
      <div className={own.told}>
        <Button size="compact-xs" variant="subtle" aria-expanded={Boolean(showsOptions)} onClick={() => setOpen(!open)}>
          {showsOptions ? "Hide the 5.0 options" : usesSubscriptionOptions(draft) ? "5.0 options, some set" : "5.0 options"}
        </Button>
        <span className={own.answer} aria-live="polite">
          {answer && (!answer.ok || state?.state === "connected") && <Answer answer={answer} />}
        </span>
      </div>
      {showsOptions && <Options draft={draft} set={set} problem={problem} />}
      {(state?.subscriptions.length ?? 0) > 0 && (
        <ul className={own.chips} aria-label="Subscriptions" data-away={state?.state !== "connected" || undefined}>
          {state?.subscriptions.map((subscription) => (
            <Subscription key={subscription.filter} subscription={subscription} onRemove={onUnsubscribe} />
          ))}
        </ul>
      )}
    </form>
  );
}

interface OptionsProps {
  readonly draft: SubscribeDraft;
  readonly set: (part: Partial<SubscribeDraft>) => void;
  readonly problem: (field: string) => string | undefined;
}

function Options({ draft, set, problem }: OptionsProps) {
  return (
    <div className={own.options}>
      <Checkbox
        size="xs"
        label="No local: not what it publishes itself"
        checked={draft.noLocal}
        error={problem("noLocal")}
        onChange={(event) => set({ noLocal: event.currentTarget.checked })}
      />
      <Checkbox
        size="xs"
        label="Retain as published"
        checked={draft.retainAsPublished}
        onChange={(event) => set({ retainAsPublished: event.currentTarget.checked })}
      />
      <NativeSelect
        size="xs"
        label="Retained messages"
        data={[
          { value: "0", label: "0: send them" },
          { value: "1", label: "1: only if it is new" },
          { value: "2", label: "2: do not send them" },
        ]}
        value={String(draft.retainHandling)}
        onChange={(event) => set({ retainHandling: Number(event.currentTarget.value) as SubscribeDraft["retainHandling"] })}
      />
      <TextInput
        label="Subscription identifier"
        placeholder="none"
        inputMode="numeric"
        value={draft.identifier}
        error={problem("identifier")}
        onChange={(event) => set({ identifier: event.currentTarget.value })}
      />
    </div>
  );
}

function Subscription({
  subscription,
  onRemove,
}: {
  readonly subscription: MqttSubscription;
  readonly onRemove: (filter: string) => void;
}) {
  const { filter } = subscription;
  return (
    <li title={filter}>
      <code>{filter}</code>
      <span>{subscriptionText(subscription)}</span>
      <ActionIcon size={18} aria-label={`Unsubscribe from ${filter}`} onClick={() => onRemove(filter)}>
        <IconX size={12} stroke={1.5} />
      </ActionIcon>
    </li>
  );
}
