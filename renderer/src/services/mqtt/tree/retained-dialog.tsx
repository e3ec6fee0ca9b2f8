import { Button, Group, Text, TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt, notifyDone } from "../../../ui/notify.tsx";
import { formatCount, formatCountOf } from "../../../ui/quantity.ts";
import { isTopicFilter } from "./topic-scope.ts";
import { notifyUnlessGone } from "./use-topic-branches.ts";

const askAfterMs = 120;

interface RetainedDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Whose they are at first. */
  readonly filter: string;
  /** In all. */
  readonly retained: number;
}

/** Asks which ones, by filter, and says how many that are; nobody is told of it. */
export function RetainedDialog({ opened, onClose, filter, retained }: RetainedDialogProps) {
  const client = useControl();
  const [typed, setTyped] = useState<string>();
  // While it closes it still names them.
  const [named, setNamed] = useState("#");
  if (opened && named !== (filter || "#")) setNamed(filter || "#");
  const wanted = typed ?? named;
  const isFilter = isTopicFilter(wanted);
  const count = useRetainedCount(opened && isFilter ? wanted : undefined, retained);
  const close = () => {
    setTyped(undefined);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isFilter || !count) return;
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
        <Text c="var(--bl-text-2)" fz="md" mb="md" mih={40} role="status">
          {countText(count, retained)}
        </Text>
        <TextInput
          label="Topic filter"
          value={wanted}
          spellCheck={false}
          error={isFilter ? undefined : "This is no topic filter."}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="filled" data-autofocus disabled={!isFilter || !count}>
            {count ? `Clear ${formatCount(count)}` : "Clear"}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

function countText(count: number | undefined, retained: number): string {
  if (count === undefined) return "";
  if (count === 0) return `No message is retained there; ${formatCountOf(retained, "message")} in all.`;
  const are = count === 1 ? "is" : "are";
  return `${formatCountOf(count, "message")} ${are} retained there, of ${formatCount(Math.max(count, retained))} in all. New subscribers no longer get ${count === 1 ? "it" : "them"}; this cannot be undone.`;
}

/** Undefined until it is told; asked again when there are more or fewer in all. */
function useRetainedCount(filter: string | undefined, retained: number): number | undefined {
  const client = useControl();
  const [told, setTold] = useState<{ readonly filter: string; readonly count: number }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another number in all it may be another one here.
  useEffect(() => {
    if (filter === undefined) return;
    let isWanted = true;
    const timer = setTimeout(() => {
      client
        .action(mqttActions, "mqtt", "retained.count", { filter })
        .then(({ count }) => isWanted && setTold({ filter, count }))
        .catch(notifyUnlessGone);
    }, askAfterMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, filter, retained]);
  return told?.filter === filter ? told?.count : undefined;
}
