import { Button, Group, Progress, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { mqttActions } from "../../../contract/mqtt.ts";
import { Dialog } from "../components/dialog.tsx";
import { attempt, notifyDone } from "../components/notify.tsx";
import { saveFile } from "../components/save-file.ts";
import { useControl } from "../control/client-context.tsx";
import type { ControlClient } from "../control/control-client.ts";
import { formatCount, formatCountOf } from "../format/quantity.ts";
import { isTopicFilter } from "./topic-scope.ts";

interface ExportDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Of the shown messages. */
  readonly filter: string;
}

export function ExportDialog({ opened, onClose, filter }: ExportDialogProps) {
  const client = useControl();
  const [typed, setTyped] = useState<string>();
  const [read, setRead] = useState<number>();
  const wanted = typed ?? (filter || "#");
  const close = () => {
    setTyped(undefined);
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isTopicFilter(wanted) || read !== undefined) return;
    setRead(0);
    await attempt(
      exportLines(client, wanted, setRead).then((lines) => {
        saveFile(
          `mqtt-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.jsonl`,
          lines.map((line) => `${line}\n`).join(""),
          "application/jsonl",
        );
        notifyDone(`Exported ${formatCountOf(lines.length, "message")}`);
        close();
      }),
    );
    setRead(undefined);
  };
  return (
    <Dialog opened={opened} onClose={close} title="Export as JSONL">
      <form onSubmit={(event) => void submit(event)}>
        <Text c="var(--bl-text-2)" fz="md" mb="md">
          One recorded message a line, oldest first: time, topic, QoS, retain, payload in base64, properties. “Replay a file” publishes it
          again at its own pace.
        </Text>
        <TextInput
          label="Topic filter"
          data-autofocus
          value={wanted}
          spellCheck={false}
          error={isTopicFilter(wanted) ? undefined : "This is no topic filter."}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {read !== undefined && (
          <>
            <Progress mt="md" value={100} animated aria-label="Export" />
            <Text mt="xs" fz="sm" c="var(--bl-text-2)">{`${formatCount(read)} read`}</Text>
          </>
        )}
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="filled" loading={read !== undefined} disabled={!isTopicFilter(wanted)}>
            Export
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

/** All recorded messages that match, page by page. */
async function exportLines(client: ControlClient, filter: string, onRead: (count: number) => void): Promise<readonly string[]> {
  const lines: string[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: { readonly lines: readonly string[]; readonly after?: number } = await client.action(
      mqttActions,
      "mqtt",
      "history.export",
      {
        filter,
        after,
      },
    );
    for (const line of page.lines) lines.push(line);
    after = page.after;
    onRead(lines.length);
  }
  return lines;
}
