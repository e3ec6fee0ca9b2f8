import { Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { FormDialog } from "../../../ui/forms/dialog.tsx";
import { Failed } from "../../../ui/status/answered.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCount, formatCountOf, pluralOf } from "../../../ui/texts/quantity.ts";
import { useMqttView } from "../broker/use-broker.ts";
import { isTopicFilter } from "./topic-scope.ts";

const askAfterMs = 120;

interface RetainedDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The initial filter. */
  readonly filter: string;
}

/** Clears the retained messages that match a filter, after showing how many these are; subscribers are not notified. */
export function RetainedDialog({ opened, onClose, filter }: RetainedDialogProps) {
  const retained = useMqttView("figures", (figures) => figures.retained) ?? 0;
  const client = useControl();
  const [typed, setTyped] = useState<string>();
  // Keeps the filter in the title while the dialog closes.
  const [named, setNamed] = useState("#");
  if (opened && named !== (filter || "#")) setNamed(filter || "#");
  const wanted = typed ?? named;
  const isFilter = isTopicFilter(wanted);
  const counted = useRetainedCount(opened && isFilter ? wanted : undefined, retained);
  const count = counted.value;
  const close = () => {
    setTyped(undefined);
    onClose();
  };
  const submit = () => {
    close();
    void attempt(
      client
        .action(mqttActions, "mqtt", "retained.clear", { filter: wanted })
        .then(({ cleared }) => notifyDone(`Cleared ${formatCountOf(cleared, "retained message")} of ${wanted}`)),
    );
  };
  return (
    <FormDialog
      opened={opened}
      onClose={close}
      title={`Clear the retained messages of “${wanted}”?`}
      action={count ? `Clear ${formatCount(count)}` : "Clear"}
      disabled={!isFilter || !count}
      isQuestion
      isDestructive
      onSubmit={submit}
    >
      {counted.failure ? (
        <Failed what="how many match" failure={counted.failure} onRetry={counted.again} isRetrying={counted.isReading} compact />
      ) : (
        <Text c="var(--bl-text-2)" fz="md" mb="md" mih={40} role="status">
          {countText(count, retained)}
        </Text>
      )}
      <TextInput
        label="Topic filter"
        value={wanted}
        spellCheck={false}
        error={isFilter ? undefined : "Not a valid topic filter."}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function countText(count: number | undefined, retained: number): string {
  if (count === undefined) return "";
  if (count === 0) return `No retained message matches, of ${formatCount(retained)} in all.`;
  return `${formatCountOf(count, "retained message")} of ${formatCount(Math.max(count, retained))}. New subscribers will not receive ${pluralOf(count, "it", "them")}. This cannot be undone.`;
}

/** Number of matching messages; undefined until it is known, and read again when the total changes. */
function useRetainedCount(filter: string | undefined, retained: number): Omit<Answer<number>, "set" | "isCurrent"> {
  const client = useControl();
  const [wanted = ""] = useDebouncedValue(filter, askAfterMs);
  const { value, isCurrent, failure, isReading, again } = useAnswer({
    key: ["mqtt", "retained", wanted],
    ask: () => client.action(mqttActions, "mqtt", "retained.count", { filter: wanted }),
    enabled: wanted !== "",
    version: retained,
  });
  return { value: isCurrent && wanted === filter ? value?.count : undefined, failure, isReading, again };
}
