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
  const sample = useMqttView("sample");
  const runningRate = sample?.running ? sample.params.messagesPerSecond : undefined;
  const client = useControl();
  const [typed, setTyped] = useState<number | string>();
  const rate = typed ?? runningRate ?? usual;
  const isValid = typeof rate === "number" && rate >= minimum && rate <= maximum;
  const close = () => {
    setTyped(undefined);
    onClose();
  };
  const run = (action: Promise<unknown>) => {
    close();
    void attempt(action);
  };
  return (
    <FormDialog
      opened={opened}
      onClose={close}
      title="Sample traffic"
      action={runningRate === undefined ? "Start" : "Set the rate"}
      disabled={!isValid}
      others={runningRate !== undefined && <Button onClick={() => run(client.action(mqttActions, "mqtt", "sample.stop"))}>Stop</Button>}
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
        onChange={setTyped}
        min={minimum}
        max={maximum}
        thousandSeparator=","
        clampBehavior="none"
        error={isValid ? undefined : `From ${minimum} to ${formatCount(maximum)}.`}
      />
    </FormDialog>
  );
}
