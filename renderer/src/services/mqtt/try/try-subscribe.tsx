import { ActionIcon, Button, NativeSelect } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import type { MqttSubscription } from "../../../../../contract/services/mqtt-client.ts";
import type { MqttTryAnswer, MqttTryState, MqttTrySubscribe } from "../../../../../contract/services/mqtt-try.ts";
import { CheckField, ChoiceField, type DraftForm, draftForm, FormColumns, TextField } from "../../../ui/forms/draft-form.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { TryProblem } from "../../try/try-section.tsx";
import { subscriptionText } from "../clients/mqtt-texts.ts";
import { qosChoices } from "../publish/publish-draft.ts";
import own from "./mqtt-try.module.css";
import { parseSubscribeDraft, type SubscribeDraft, usesSubscriptionOptions } from "./subscribe-draft.ts";

/** "PUBACK 0x10 no matching subscribers", followed by the broker's reason string. */
export function answerText({ packet, reason, meaning, text }: MqttTryAnswer): string {
  const code = reason === undefined ? "" : `0x${reason.toString(16).padStart(2, "0")}`;
  const said = [packet, code, meaning].filter(Boolean).join(" ");
  return text ? `${said}: ${shownText(text)}` : said;
}

/** The broker's answer and its time. */
export function Answer({ answer }: { readonly answer: MqttTryAnswer }) {
  const text = answerText(answer);
  const said = answer.packet ? `${text} · ${formatTook(answer.tookMs)}` : text;
  if (!answer.ok) return <TryProblem title={text}>{said}</TryProblem>;
  return (
    <span title={text}>
      <StatusShape shape="running" /> {said}
    </span>
  );
}

interface TrySubscribeProps {
  readonly state: MqttTryState | undefined;
  readonly running: boolean;
  readonly draft: SubscribeDraft;
  readonly onDraft: (draft: SubscribeDraft) => void;
  /** Undefined if the call failed, which is shown as a notification. */
  readonly onSubscribe: (params: MqttTrySubscribe) => Promise<MqttTryAnswer | undefined>;
  readonly onUnsubscribe: (filter: string) => void;
}

/** The form of a new subscription, and the existing subscriptions. */
export function TrySubscribe({ state, running, draft, onDraft, onSubscribe, onUnsubscribe }: TrySubscribeProps) {
  const [open, setOpen] = useRemembered("mqtt.try-subscribe-options", false);
  const [answer, setAnswer] = useState<MqttTryAnswer>();
  const parsed = parseSubscribeDraft(draft);
  const change = (next: SubscribeDraft) => {
    setAnswer(undefined);
    onDraft(next);
  };
  const form = draftForm(draft, change, parsed);
  const showsOptions = open || form.problem("identifier") !== undefined || form.problem("noLocal") !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ("params" in parsed && running) void onSubscribe(parsed.params).then(setAnswer);
  };
  return (
    <form className={own.subscribe} onSubmit={submit}>
      <div className={own.subscribeLine}>
        <TextField
          form={form}
          name="filter"
          mono
          className={own.grow}
          aria-label="Topic filter"
          placeholder="Topic filter, + and # allowed"
        />
        <ChoiceField form={form} name="qos" label="Maximum quality of service" choices={qosChoices} />
        <Button type="submit" disabled={!running || "problem" in parsed}>
          Subscribe
        </Button>
      </div>
      <div className={own.optionsLine}>
        <Button size="compact-xs" variant="subtle" aria-expanded={showsOptions} onClick={() => setOpen(!open)}>
          {showsOptions ? "Hide the 5.0 options" : usesSubscriptionOptions(draft) ? "5.0 options (some set)" : "5.0 options"}
        </Button>
        <span className={own.answer} aria-live="polite">
          {answer && (!answer.ok || state?.state === "connected") && <Answer answer={answer} />}
        </span>
      </div>
      {showsOptions && <Options form={form} />}
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

const retainHandlings = [
  { value: "0", label: "0: send" },
  { value: "1", label: "1: send if the subscription is new" },
  { value: "2", label: "2: do not send" },
];

function Options({ form }: { readonly form: DraftForm<SubscribeDraft> }) {
  return (
    <FormColumns style={{ paddingTop: 10 }}>
      <CheckField form={form} name="noLocal" label="No local: not its own messages" />
      <CheckField form={form} name="retainAsPublished" label="Retain as published" />
      <NativeSelect
        size="xs"
        label="Retained messages"
        data={retainHandlings}
        value={String(form.draft.retainHandling)}
        onChange={(event) => form.set({ retainHandling: Number(event.currentTarget.value) as SubscribeDraft["retainHandling"] })}
      />
      <TextField form={form} name="identifier" label="Subscription identifier" placeholder="none" inputMode="numeric" />
    </FormColumns>
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
    <li title={shownText(filter)}>
      <code>{shownText(filter)}</code>
      <span>{subscriptionText(subscription)}</span>
      <ActionIcon aria-label={`Unsubscribe from ${filter}`} onClick={() => onRemove(filter)}>
        <IconX size={12} stroke={1.5} />
      </ActionIcon>
    </li>
  );
}
