import { Group, NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { eventsActions } from "../../../../../contract/services/events.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";

export const usualSample = { count: 2_000, days: 7 };

interface GenerateDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Stores events of made-up devices, with the given number and days. */
export function GenerateDialog({ opened, onClose }: GenerateDialogProps) {
  const client = useControl();
  const [count, setCount] = useState<number | string>(usualSample.count);
  const [days, setDays] = useState<number | string>(usualSample.days);
  const valid = typeof count === "number" && count >= 1 && typeof days === "number";
  const submit = () => {
    if (!valid) return;
    void attempt(client.action(eventsActions, "events", "sample.generate", { count, days }));
    onClose();
  };
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title="Generate sample events"
      action={valid ? `Generate ${formatCountOf(count, "event")}` : "Generate"}
      disabled={!valid}
      onSubmit={submit}
    >
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        Events of sample devices are added to the others, spread over the days up to now. Their plugin version is “sample”, so the text
        filter finds them again.
      </Text>
      <Group grow align="start">
        <NumberInput
          label="Events"
          size="xs"
          data-autofocus
          value={count}
          onChange={setCount}
          min={1}
          max={1_000_000}
          step={1_000}
          thousandSeparator=","
          allowDecimal={false}
          clampBehavior="strict"
        />
        <NumberInput label="Over days" size="xs" value={days} onChange={setDays} min={0} max={400} clampBehavior="strict" />
      </Group>
    </FormDialog>
  );
}
