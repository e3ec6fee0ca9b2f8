import { Checkbox, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { mqttActions, mqttDisconnectReasons } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";

type Reason = keyof typeof mqttDisconnectReasons;
const reasons = Object.entries(mqttDisconnectReasons).map(([value, code]) => ({ value, label: `0x${code.toString(16)} ${value}` }));

/** Disconnects a client; only MQTT 5.0 clients receive the reason and the text. */
export function DisconnectDialog({ clientId, onClose }: { readonly clientId: string | undefined; readonly onClose: () => void }) {
  const client = useControl();
  const [reason, setReason] = useState<Reason>("administrative action");
  const [text, setText] = useState("Disconnected from the dashboard.");
  const [abrupt, setAbrupt] = useState(false);
  // The title keeps the client's name while the dialog fades out.
  const [named, setNamed] = useState("");
  if (clientId !== undefined && clientId !== named) setNamed(clientId);
  const submit = () => {
    onClose();
    void attempt(client.action(mqttActions, "mqtt", "client.disconnect", { clientId: named, reason, text, abrupt }));
  };
  return (
    <FormDialog
      opened={clientId !== undefined}
      onClose={onClose}
      title={`Disconnect “${shownText(named)}”?`}
      action={abrupt ? "Cut the connection" : "Disconnect"}
      isQuestion
      isDestructive
      onSubmit={submit}
    >
      <Select
        size="xs"
        label="Reason"
        description="Sent to MQTT 5.0 clients; for others the connection just closes."
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
        label="Close the connection without a DISCONNECT, like a network failure"
        checked={abrupt}
        onChange={(event) => setAbrupt(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}
