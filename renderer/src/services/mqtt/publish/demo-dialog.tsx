import { Button, NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useMqttView } from "../broker/use-broker.ts";

interface DemoDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export const usualDemo = { messagesPerSecond: 12 };

export function DemoDialog({ opened, onClose }: DemoDialogProps) {
  const demo = useMqttView("sample");
  const client = useControl();
  const [rate, setRate] = useState<number | string>(usualDemo.messagesPerSecond);
  const isValid = typeof rate === "number" && rate >= 0.1 && rate <= 5_000;
  const run = (action: Promise<unknown>) => {
    onClose();
    void attempt(action);
  };
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title="Demo publisher"
      action={demo?.running ? "Set the rate" : "Start"}
      disabled={!isValid}
      others={demo?.running && <Button onClick={() => run(client.action(mqttActions, "mqtt", "sample.stop"))}>Stop</Button>}
      onSubmit={() => typeof rate === "number" && run(client.action(mqttActions, "mqtt", "sample.start", { messagesPerSecond: rate }))}
    >
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        Publishes sensor readings on sensors/#, some retained, some with QoS 1, and now and then a message on test/topic.
      </Text>
      <NumberInput
        size="xs"
        label="Messages per second"
        data-autofocus
        value={rate}
        onChange={setRate}
        min={0.1}
        max={5_000}
        thousandSeparator=","
        clampBehavior="none"
        error={isValid ? undefined : "From 0.1 to 5,000."}
      />
    </FormDialog>
  );
}
