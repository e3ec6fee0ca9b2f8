import { Button, Group, NumberInput, SegmentedControl, Text } from "@mantine/core";
import type { FormEvent } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { type ClientFaultDraft, clientFaultMs, firstClientFault } from "./client-fault-draft.ts";

interface HinderDialogProps {
  readonly clientId: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Freezes or delays a client for a time of one's own. */
export function HinderDialog({ clientId, opened, onClose }: HinderDialogProps) {
  const control = useControl();
  const [draft, setDraft] = useRemembered<ClientFaultDraft>("mqtt.clientFault", firstClientFault);
  const set = (part: Partial<ClientFaultDraft>) => setDraft({ ...draft, ...part });
  const forMs = clientFaultMs(draft, "forSeconds");
  const delayMs = clientFaultMs(draft, "delayMs");
  const isDelay = draft.how === "delay";
  const isValid = forMs !== undefined && (!isDelay || delayMs !== undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isValid) return;
    onClose();
    void attempt(
      isDelay && delayMs !== undefined
        ? control.action(mqttActions, "mqtt", "client.delay", { clientId, delayMs, forMs })
        : control.action(mqttActions, "mqtt", "client.freeze", { clientId, forMs }),
    );
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={`Hinder “${clientId}” for a time`}>
      <form onSubmit={submit}>
        <SegmentedControl
          aria-label="How"
          data={[
            { value: "freeze", label: "Freeze" },
            { value: "delay", label: "Delay" },
          ]}
          value={draft.how}
          onChange={(how) => set({ how: how as ClientFaultDraft["how"] })}
        />
        <Text c="var(--bl-text-2)" fz="md" my="md">
          {isDelay
            ? "Everything reaches it later, in order."
            : "It is neither read nor written: its queue grows, and it may give up, since its PINGREQ gets no answer."}
        </Text>
        <Group gap="md" align="start">
          <NumberInput
            size="xs"
            w={140}
            label="For"
            suffix=" s"
            min={0.1}
            max={3_600}
            decimalScale={1}
            data-autofocus
            value={draft.forSeconds}
            error={forMs === undefined && "0.1 to 3,600 s"}
            onChange={(forSeconds) => set({ forSeconds })}
          />
          <NumberInput
            size="xs"
            w={140}
            label="By"
            suffix=" ms"
            min={1}
            max={60_000}
            step={100}
            allowDecimal={false}
            disabled={!isDelay}
            value={draft.delayMs}
            error={isDelay && delayMs === undefined && "1 to 60,000 ms"}
            onChange={(delayMs) => set({ delayMs })}
          />
        </Group>
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={!isValid}>
            {isDelay ? "Delay it" : "Freeze it"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
