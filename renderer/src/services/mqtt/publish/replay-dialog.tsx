import { Button, FileButton, Progress, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import type { Failure } from "../../../../../contract/service.ts";
import { type MqttReplayFile, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { filePieces } from "../../../ui/copy/files.ts";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { formatDurationExact } from "../../../ui/texts/time.ts";
import { useMqttView } from "../broker/use-broker.ts";

const speeds = [
  { value: "1", label: "1 ×" },
  { value: "2", label: "2 ×" },
  { value: "10", label: "10 ×" },
  { value: "100", label: "100 ×" },
  { value: "0", label: "As fast as possible" },
];

interface ReplayDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The file is sent to the service, which stores and replays it: closing the dialog does not stop a replay. */
export function ReplayDialog({ opened, onClose }: ReplayDialogProps) {
  const replay = useMqttView("replay");
  const client = useControl();
  const [speed, setSpeed] = useState("1");
  /** Why the file was not accepted. */
  const [refusal, setRefusal] = useState<Failure>();
  const file = replay?.file;
  const act = (name: "replay.stop" | "replay.discard") => void attempt(client.action(mqttActions, "mqtt", name));
  const choose = (chosen: File | null) => {
    if (!chosen) return;
    setRefusal(undefined);
    sendReplayFile(
      {
        begin: (name, sizeBytes) => client.action(mqttActions, "mqtt", "replay.begin", { name, sizeBytes }),
        text: (id, text) => client.action(mqttActions, "mqtt", "replay.text", { file: id, text }),
        end: (id) => client.action(mqttActions, "mqtt", "replay.end", { file: id }),
      },
      chosen,
    ).catch((error: unknown) => setRefusal(failureOf(error)));
  };
  const start = () => void attempt(client.action(mqttActions, "mqtt", "replay.start", { speed: Number(speed) }));
  return (
    <Dialog opened={opened} onClose={onClose} title="Replay a file">
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        Publishes the messages of a JSONL export again, with the same pauses between them.
      </Text>
      {file && <FileState file={file} />}
      {refusal && (
        <Text mt="xs" fz="sm" c="var(--bl-bad)" role="alert" style={{ overflowWrap: "anywhere" }}>
          {`${refusal.message} ${refusal.hint}`}
        </Text>
      )}
      {replay?.running && file && <Sent sent={replay.sent} of={file.messages} />}
      {replay?.failure !== undefined && (
        <Text mt="xs" fz="sm" c="var(--bl-bad)">
          {replay.failure}
        </Text>
      )}
      {file?.complete && !replay?.running && (
        <SegmentedControl mt="md" fullWidth aria-label="Speed" data={speeds} value={speed} onChange={setSpeed} />
      )}
      <DialogButtons>
        {file && !file.complete && <Button onClick={() => act("replay.discard")}>Cancel</Button>}
        {replay?.running && <Button onClick={() => act("replay.stop")}>Stop</Button>}
        {file?.complete !== false && !replay?.running && (
          <FileButton onChange={choose} accept=".jsonl,.ndjson,.json,.txt">
            {(props) => (
              <Button {...props} variant={file ? "default" : "filled"} data-autofocus={!file || undefined}>
                {file ? "Another file…" : "Choose a file…"}
              </Button>
            )}
          </FileButton>
        )}
        <Button onClick={onClose}>Close</Button>
        {file?.complete && !replay?.running && (
          <Button variant="filled" onClick={start}>
            {`Replay ${formatCount(file.messages)}`}
          </Button>
        )}
      </DialogButtons>
    </Dialog>
  );
}

function FileState({ file }: { readonly file: MqttReplayFile }) {
  const { name, sizeBytes, receivedBytes, messages, firstAt, lastAt, complete } = file;
  const lasts = formatDurationExact(Math.max(0, lastAt - firstAt));
  return (
    <>
      <Text fz="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
        {name}
      </Text>
      {!complete && <Progress mt="xs" value={(100 * receivedBytes) / Math.max(1, sizeBytes)} aria-label="Upload" />}
      <Text mt={4} fz="sm" c="var(--bl-text-2)" aria-live={complete ? "polite" : "off"}>
        {complete
          ? `${formatCountOf(messages, "message")} over ${lasts}, ${formatBytes(sizeBytes)}`
          : `${formatBytes(receivedBytes)} of ${formatBytes(sizeBytes)} read, ${formatCountOf(messages, "message")}`}
      </Text>
    </>
  );
}

function Sent({ sent, of }: { readonly sent: number; readonly of: number }) {
  return (
    <>
      <Progress mt="md" value={(100 * sent) / Math.max(1, of)} aria-label="Replayed" />
      <Text mt={4} fz="sm" c="var(--bl-text-2)">{`${formatCount(sent)} of ${formatCount(of)} published`}</Text>
    </>
  );
}

export interface ReplayReceiver {
  begin(name: string, sizeBytes: number): Promise<MqttReplayFile>;
  text(file: number, text: string): Promise<unknown>;
  end(file: number): Promise<unknown>;
}

/** Sends a recorded file in pieces; a view of the service shows the progress. Also resolves when it was cancelled. */
export async function sendReplayFile(receiver: ReplayReceiver, file: Pick<File, "name" | "size" | "slice">): Promise<void> {
  const { id } = await receiver.begin(file.name, file.size);
  try {
    for await (const { text } of filePieces(file)) await receiver.text(id, text);
    await receiver.end(id);
  } catch (error) {
    // Cancelled, here or in another window, or another file was chosen meanwhile.
    if (failureOf(error).code !== "JOB_UNKNOWN") throw error;
  }
}
