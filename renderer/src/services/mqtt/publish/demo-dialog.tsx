import { Button, Group, NumberInput, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type MqttViews, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/notify.tsx";

interface DemoDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly demo: MqttViews["demo"] | undefined;
}

export const usualDemo = { messagesPerSecond: 12 };

export function DemoDialog({ opened, onClose, demo }: DemoDialogProps) {
  const client = useControl();
  const [rate, setRate] = useState<number | string>(usualDemo.messagesPerSecond);
  const isValid = typeof rate === "number" && rate >= 0.1 && rate <= 5_000;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isValid) return;
    onClose();
    void attempt(client.action(mqttActions, "mqtt", "sample.start", { messagesPerSecond: rate }));
  };
  const stop = () => {
    onClose();
    void attempt(client.action(mqttActions, "mqtt", "sample.stop"));
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Demo publisher">
      <form onSubmit={submit}>
        <Text c="var(--bl-text-2)" fz="md" mb="md">
          Plausible readings on sensors/#, some retained, some with QoS 1, and now and then a line on test/topic.
        </Text>
        <NumberInput
          size="xs"
          label="Messages a second"
          data-autofocus
          value={rate}
          onChange={setRate}
          min={0.1}
          max={5_000}
          thousandSeparator=","
          clampBehavior="none"
          error={isValid ? undefined : "From 0.1 to 5,000."}
        />
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={onClose}>Cancel</Button>
          {demo?.running && <Button onClick={stop}>Stop it</Button>}
          <Button type="submit" variant="filled" disabled={!isValid}>
            {demo?.running ? "Set the rate" : "Start"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
