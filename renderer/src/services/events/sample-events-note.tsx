import { Button } from "@mantine/core";
import { z } from "zod";
import type { EventJob } from "../../../../contract/services/events.ts";
import { useAnswer } from "../../control/use-answer.ts";
import { Note } from "../../ui/panel.tsx";
import { useSampleTraffic } from "../../ui/services/sample-traffic.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatCountOf, pluralOf } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import type { EventsAsk } from "./jobs/import-file.ts";
import styles from "./sample-events-note.module.css";

interface SampleEventsNoteProps {
  readonly ask: EventsAsk;
  /** The service answers calls. */
  readonly available: boolean;
  readonly jobs: readonly EventJob[];
}

const filter = { sample: "only" } as const;

/** While no sample traffic is sent: how many of its events are stored, and their deletion. They are in the API's answers as any other. */
export function SampleEventsNote({ ask, available, jobs }: SampleEventsNoteProps) {
  const { playing } = useSampleTraffic("events");
  /** The number that the user has seen and keeps. */
  const [seen, setSeen] = useRemembered("events.sample-kept", 0, z.number());
  const isShown = available && !playing;
  const { value } = useAnswer({
    key: ["events", "sample-count", playing],
    ask: () => ask("delete.count", { filter }),
    enabled: isShown,
    version: jobs.map(({ id, state }) => `${id} ${state}`).join(),
    keepsPrevious: false,
  });
  const isDeleting = jobs.some(({ kind, state }) => kind === "delete" && state === "running");
  if (!isShown || !value || value.matching <= seen || isDeleting) return null;
  const { matching, exact } = value;
  return (
    <Note className={styles.note} role="status">
      <span>{`${exact ? "" : "At least "}${formatCountOf(matching, "sample event")} ${pluralOf(matching, "is", "are")} kept, and in what the API answers.`}</span>
      <Button size="compact-xs" onClick={() => void attempt(ask("delete.start", { filter }))}>
        {pluralOf(matching, "Delete it", "Delete them")}
      </Button>
      <Button size="compact-xs" variant="subtle" onClick={() => setSeen(matching)}>
        Keep
      </Button>
    </Note>
  );
}
