import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { ChoiceField, draftForm } from "../../../ui/forms/draft-form.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { DelayField, DurationField, FaultFormDialog } from "../../faults/fault-fields.tsx";
import { clientFaultSchema, firstClientFault, mostFaultSeconds, parseClientFault } from "./client-fault-draft.ts";

interface ClientFaultDialogProps {
  readonly clientId: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

const faults = [
  { value: "freeze", label: "Freeze" },
  { value: "delay", label: "Delay" },
] as const;

/** Freezes or delays a client for a given time. */
export function ClientFaultDialog({ clientId, opened, onClose }: ClientFaultDialogProps) {
  const control = useControl();
  const [draft, setDraft] = useRemembered("mqtt.clientFault", firstClientFault, clientFaultSchema);
  const parsed = parseClientFault(draft);
  const form = draftForm(draft, setDraft, parsed);
  const isDelay = draft.how === "delay";
  const submit = () => {
    if ("problem" in parsed) return;
    const { delayMs, forMs } = parsed;
    void attempt(
      delayMs === undefined
        ? control.action(mqttActions, "mqtt", "client.freeze", { clientId, forMs })
        : control.action(mqttActions, "mqtt", "client.delay", { clientId, delayMs, forMs }),
    );
  };
  return (
    <FaultFormDialog
      title={`Freeze or delay “${shownText(clientId)}”`}
      action={isDelay ? "Delay" : "Freeze"}
      opened={opened}
      isValid={!("problem" in parsed)}
      onClose={onClose}
      onSubmit={submit}
      choice={<ChoiceField form={form} name="how" label="Fault" choices={faults} />}
      text={
        isDelay
          ? "Everything reaches the client later, in order."
          : "The broker neither reads from the client nor writes to it: its queue grows, and it may disconnect because its PINGREQ gets no answer."
      }
    >
      <DurationField form={form} mostSeconds={mostFaultSeconds} />
      <DelayField form={form} disabled={!isDelay} />
    </FaultFormDialog>
  );
}
