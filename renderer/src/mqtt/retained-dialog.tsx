import { Button, Group, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { mqttActions } from "../../../contract/mqtt.ts";
import { Dialog } from "../components/dialog.tsx";
import { attempt, notifyDone } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { formatCountOf } from "../format/quantity.ts";
import { isTopicFilter } from "./topic-scope.ts";

interface RetainedDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Of the shown messages. */
  readonly filter: string;
  readonly retained: number;
}

/** Asks which ones, by filter; nobody is told of it. */
export function RetainedDialog({ opened, onClose, filter, retained }: RetainedDialogProps) {
  const client = useControl();
  const [typed, setTyped] = useState<string>();
  const wanted = typed ?? (filter || "#");
  const close = () => {
    setTyped(undefined);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isTopicFilter(wanted)) return;
    close();
    void attempt(
      client
        .action(mqttActions, "mqtt", "retained.clear", { filter: wanted })
        .then(({ cleared }) => notifyDone(`Cleared ${formatCountOf(cleared, "retained message")} of ${wanted}`)),
    );
  };
  return (
    <Dialog opened={opened} onClose={close} title={`Clear the retained messages of “${wanted}”?`}>
      <form onSubmit={submit}>
        <Text c="var(--bl-text-2)" fz="md" mb="md">
          {`New subscribers no longer get them. ${formatCountOf(retained, "message")} are retained in all; this cannot be undone.`}
        </Text>
        <TextInput
          label="Topic filter"
          value={wanted}
          spellCheck={false}
          error={isTopicFilter(wanted) ? undefined : "This is no topic filter."}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="filled" data-autofocus disabled={!isTopicFilter(wanted)}>
            Clear them
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
