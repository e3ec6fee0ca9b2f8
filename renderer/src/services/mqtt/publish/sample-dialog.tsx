import { Button, NumberInput, Text } from "@mantine/core";
import { useState } from "react";
import { mqttActions, mqttSampleRate } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { useMqttView } from "../broker/use-broker.ts";

interface SampleDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

const { minimum, maximum, usual } = mqttSampleRate;

/** Sample traffic at a chosen rate. */
export function SampleDialog({ opened, onClose }: SampleDialogProps) {
  const isRunning = useMqttView("sample", ({ running }) => running) ?? false;
  const client = useControl();
  const [rate, setRate] = useState<number | string>(usual);
  const isValid = typeof rate === "number" && rate >= minimum && rate <= maximum;
  const run = (action: Promise<unknown>) => {
    onClose();
    void attempt(action);
  };
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title="Sample traffic"
      action={isRunning ? "Set the rate" : "Start"}
      disabled={!isValid}
      others={isRunning && <Button onClick={() => run(client.action(mqttActions, "mqtt", "sample.stop"))}>Stop</Button>}
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
        min={minimum}
        max={maximum}
        thousandSeparator=","
        clampBehavior="none"
        error={isValid ? undefined : `From ${minimum} to ${formatCount(maximum)}.`}
      />
    </FormDialog>
  );
}
