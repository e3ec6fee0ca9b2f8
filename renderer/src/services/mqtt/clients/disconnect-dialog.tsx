import { Button, Checkbox, Group, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { mqttActions, mqttDisconnectReasons } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/notify.tsx";

type Reason = keyof typeof mqttDisconnectReasons;
const reasons = Object.entries(mqttDisconnectReasons).map(([value, code]) => ({ value, label: `0x${code.toString(16)} ${value}` }));

/** Asks, naming the client; the reason and the text reach MQTT 5 clients only. */
export function DisconnectDialog({ clientId, onClose }: { readonly clientId: string | undefined; readonly onClose: () => void }) {
  const client = useControl();
  const [reason, setReason] = useState<Reason>("administrative action");
  const [text, setText] = useState("Disconnected from the dashboard.");
  const [abrupt, setAbrupt] = useState(false);
  // While it closes it still names the client.
  const [named, setNamed] = useState("");
  if (clientId !== undefined && clientId !== named) setNamed(clientId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onClose();
    void attempt(client.action(mqttActions, "mqtt", "client.disconnect", { clientId: named, reason, text, abrupt }));
  };
  return (
    <Dialog opened={clientId !== undefined} onClose={onClose} title={`Disconnect “${named}”?`}>
      <form onSubmit={submit}>
        <Select
          size="xs"
          label="Reason"
          description="MQTT 5.0 clients are told; to others the connection just closes."
          data={reasons}
          value={reason}
          disabled={abrupt}
          allowDeselect={false}
          onChange={(value) => value && setReason(value as Reason)}
        />
        <TextInput
          mt="md"
          label="Reason text"
          value={text}
          disabled={abrupt}
          maxLength={500}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Checkbox
          mt="md"
          size="xs"
          label="Cut the connection without a word, as a broken network does"
          checked={abrupt}
          onChange={(event) => setAbrupt(event.currentTarget.checked)}
        />
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" data-autofocus>
            {abrupt ? "Cut off" : "Disconnect"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
