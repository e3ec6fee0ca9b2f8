import { Button, FileButton, Group, SegmentedControl, Text } from "@mantine/core";
import { useState } from "react";
import { mqttActions } from "../../../contract/mqtt.ts";
import { Dialog } from "../components/dialog.tsx";
import { attempt } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { formatDurationExact } from "../format/duration.ts";
import { formatCount, formatCountOf } from "../format/quantity.ts";
import { type ReplayFile, readReplayFile } from "./replay-file.ts";

const speeds = [
  { value: "1", label: "Own pace" },
  { value: "10", label: "10 ×" },
  { value: "100", label: "100 ×" },
  { value: "0", label: "At once" },
];

export function ReplayDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  const client = useControl();
  const [file, setFile] = useState<ReplayFile & { readonly name: string }>();
  const [speed, setSpeed] = useState("1");
  const choose = (chosen: File | null) => {
    if (chosen) void attempt(chosen.text().then((text) => setFile({ ...readReplayFile(text), name: chosen.name })));
  };
  const start = async () => {
    if (file?.kind !== "ready") return;
    if (await attempt(client.action(mqttActions, "mqtt", "replay.start", { lines: [...file.lines], speed: Number(speed) }))) onClose();
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Replay a file">
      <Text c="var(--bl-text-2)" fz="md" mb="md">
        Publishes what “Export as JSONL” wrote once more, with the pauses that were between the messages.
      </Text>
      <Group gap="sm" wrap="nowrap">
        <FileButton onChange={choose} accept=".jsonl,.ndjson,.json,.txt">
          {(props) => <Button {...props}>Choose a file…</Button>}
        </FileButton>
        <Text fz="sm" c={file?.kind === "wrong" ? "var(--bl-bad)" : "var(--bl-text-2)"} aria-live="polite">
          {fileText(file)}
        </Text>
      </Group>
      {file?.kind === "ready" && file.leftOut > 0 && (
        <Text mt="xs" fz="sm" c="var(--bl-warn)">
          {`The last ${formatCountOf(file.leftOut, "message")} of it do not fit and are left out.`}
        </Text>
      )}
      <SegmentedControl mt="md" aria-label="Pace" data={speeds} value={speed} onChange={setSpeed} />
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="filled" disabled={file?.kind !== "ready"} onClick={() => void start()}>
          {file?.kind === "ready" ? `Replay ${formatCount(file.lines.length)}` : "Replay"}
        </Button>
      </Group>
    </Dialog>
  );
}

function fileText(file: (ReplayFile & { readonly name: string }) | undefined): string {
  if (!file) return "No file chosen.";
  if (file.kind === "wrong") return `${file.name}: ${file.problem}`;
  return `${file.name}: ${formatCountOf(file.lines.length, "message")} over ${formatDurationExact(file.seconds * 1_000)}`;
}
