import { Button, Group, Progress, Text, TextInput } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { mqttActions } from "../../../contract/mqtt.ts";
import { Dialog } from "../components/dialog.tsx";
import { attempt, notifyDone } from "../components/notify.tsx";
import { saveFile } from "../components/save-file.ts";
import { useControl } from "../control/client-context.tsx";
import { formatCountOf } from "../format/quantity.ts";
import { type ExportProgress, readExport } from "./read-export.ts";
import { isTopicFilter } from "./topic-scope.ts";

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
  const [progress, setProgress] = useState<ExportProgress>();
  const abort = useRef<AbortController>(undefined);
  const wanted = typed ?? (filter || everything);
  const wantedText = typedText ?? text;
  const isValid = isTopicFilter(wanted);
  const close = () => {
    abort.current?.abort();
    setTyped(undefined);
    setTypedText(undefined);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isValid || progress) return;
    const mine = new AbortController();
    abort.current = mine;
    setProgress({ messages: 0, share: 0 });
    const read = (params: Parameters<Parameters<typeof readExport>[0]>[0]) => client.action(mqttActions, "mqtt", "history.export", params);
    await attempt(
      readExport(read, { filter: wanted, text: wantedText }, setProgress, mine.signal).then((file) => {
        if (!file) return;
        const name = `mqtt-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.jsonl`;
        saveFile(name, new Blob([...file.parts]), "application/jsonl");
        notifyDone(`Exported ${formatCountOf(file.messages, "message")}`);
        close();
      }),
    );
    setProgress(undefined);
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
        {progress && (
          <>
            <Progress mt="md" value={100 * progress.share} aria-label="Export" />
            <Text mt="xs" fz="sm" c="var(--bl-text-2)">{`${formatCountOf(progress.messages, "message")} read`}</Text>
          </>
        )}
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="filled" loading={progress !== undefined} disabled={!isValid}>
            Export
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
