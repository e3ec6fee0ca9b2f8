import { Button, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { stampedName, startExport } from "../../../app/exports/export-words.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { isTopicFilter } from "../tree/topic-scope.ts";

interface ExportDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Filter of the shown messages. */
  readonly filter: string;
  readonly text: string;
  readonly withoutSample: boolean;
}

const everything = "#";

export function ExportDialog({ opened, onClose, filter, text, withoutSample }: ExportDialogProps) {
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
  const submit = async () => {
    const started = startExport(client, {
      source: { kind: "action", id: "mqtt", action: "history.export", params: { filter: wanted, text: wantedText, withoutSample } },
      name: stampedName("mqtt", "jsonl"),
      item: "message",
    });
    if (await attempt(started)) close();
  };
  return (
    <FormDialog opened={opened} onClose={close} title="Export as JSONL" action="Export" disabled={!isValid} onSubmit={() => void submit()}>
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        All kept messages that match, one per line, oldest first: time, topic, QoS, retain, publisher, payload (Base64), properties. “Replay
        a file” publishes them again.{withoutSample && " Without sample traffic, as the list."}
      </Text>
      <TextInput
        label="Topic filter"
        data-autofocus
        value={wanted}
        spellCheck={false}
        error={isValid ? undefined : "Not a valid topic filter."}
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
        label="Payload contains"
        placeholder="any text"
        value={wantedText}
        maxLength={500}
        spellCheck={false}
        onChange={(event) => setTypedText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
