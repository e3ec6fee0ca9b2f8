import { Group, Text } from "@mantine/core";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { ChoiceField, NumberField } from "../../../ui/forms/draft-form.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { type ClientFaultDraft, clientFaultMs, clientFaultSchema, firstClientFault } from "./client-fault-draft.ts";

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
  const forMs = clientFaultMs(draft, "forSeconds");
  const delayMs = clientFaultMs(draft, "delayMs");
  const isDelay = draft.how === "delay";
  const form = {
    draft,
    set: (part: Partial<ClientFaultDraft>) => setDraft({ ...draft, ...part }),
    problem: (field: string) =>
      field === "forSeconds" && forMs === undefined
        ? "0.1 to 3,600 s"
        : field === "delayMs" && isDelay && delayMs === undefined
          ? "1 to 60,000 ms"
          : undefined,
  };
  const submit = () => {
    if (forMs === undefined) return;
    onClose();
    void attempt(
      isDelay && delayMs !== undefined
        ? control.action(mqttActions, "mqtt", "client.delay", { clientId, delayMs, forMs })
        : control.action(mqttActions, "mqtt", "client.freeze", { clientId, forMs }),
    );
  };
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={`Freeze or delay “${shownText(clientId)}”`}
      action={isDelay ? "Delay" : "Freeze"}
      disabled={forMs === undefined || (isDelay && delayMs === undefined)}
      onSubmit={submit}
    >
      <ChoiceField form={form} name="how" label="Fault" choices={faults} />
      <Text c="var(--bl-text-2)" fz="md" my="md">
        {isDelay
          ? "Everything reaches the client later, in order."
          : "The broker neither reads from the client nor writes to it: its queue grows, and it may disconnect because its PINGREQ gets no answer."}
      </Text>
      <Group gap="md" align="start">
        <NumberField
          form={form}
          name="forSeconds"
          w={140}
          label="Duration"
          suffix=" s"
          min={0.1}
          max={3_600}
          decimalScale={1}
          data-autofocus
        />
        <NumberField
          form={form}
          name="delayMs"
          w={140}
          label="Delay"
          suffix=" ms"
          min={1}
          max={60_000}
          step={100}
          allowDecimal={false}
          disabled={!isDelay}
        />
      </Group>
    </FormDialog>
  );
}
