import { Button, Group, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { stampedName, startExport } from "../../../app/exports/start-export.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { isTopicFilter } from "../tree/topic-scope.ts";

interface ExportDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Of the shown messages. */
  readonly filter: string;
  readonly text: string;
}

const everything = "#";

export function ExportDialog({ opened, onClose, filter, text }: ExportDialogProps) {
  const client = useControl();
  const [typed, setTyped] = useState<string>();
  const [typedText, setTypedText] = useState<string>();
  const wanted = typed ?? (filter || everything);
  const wantedText = typedText ?? text;
  const isValid = isTopicFilter(wanted);
  const close = () => {
    setTyped(undefined);
    setTypedText(undefined);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isValid) return;
    const started = startExport(client, {
      source: { kind: "action", id: "mqtt", action: "history.export", params: { filter: wanted, text: wantedText } },
      name: stampedName("mqtt", "jsonl"),
      item: "message",
    });
    if (await attempt(started)) close();
  };
  return (
    <Dialog opened={opened} onClose={close} title="Export as JSONL">
      <form onSubmit={(event) => void submit(event)}>
        <Text c="var(--bl-text-2)" fz="md" mb="md">
          All kept messages that match, one a line, oldest first: time, topic, QoS, retain, publisher, payload in base64, properties.
          “Replay a file” publishes them again.
        </Text>
        <TextInput
          label="Topic filter"
          data-autofocus
          value={wanted}
          spellCheck={false}
          error={isValid ? undefined : "This is no topic filter."}
          rightSectionWidth={84}
          rightSection={
            wanted !== everything && (
              <Button size="compact-xs" variant="subtle" onClick={() => setTyped(everything)}>
                All topics
              </Button>
            )
          }
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <TextInput
          mt="sm"
          label="Only with this text in the payload"
          placeholder="any"
          value={wantedText}
          maxLength={500}
          spellCheck={false}
          onChange={(event) => setTypedText(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={!isValid}>
            Export
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
