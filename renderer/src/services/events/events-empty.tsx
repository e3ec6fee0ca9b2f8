import { Button } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import type { ServiceView } from "../../../../contract/service.ts";
import { eventsActions } from "../../../../contract/services/events.ts";
import { useControl } from "../../control/client-context.tsx";
import type { EmptyText } from "../../pages/service/define-service-page.ts";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { EmptyState, NoRows } from "../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../ui/status/first-steps.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatCount, formatCountOf, pluralOf } from "../../ui/texts/quantity.ts";
import { exampleCommand } from "./example-events.ts";
import { usualSample } from "./jobs/generate-dialog.tsx";

/** A client whose events are all refused has stored none. */
export const emptyAfter = (requests: number): EmptyText => ({
  nothing:
    requests === 0
      ? "No event is stored yet."
      : "No event is stored. What was requested, and why it was refused, is in the list of requests below.",
  point: (origin) => (
    <>
      the plugin at <code>{`${origin}/events`}</code>, or start with sample events.
    </>
  ),
  watch: "each event appear here within a second, and in the plots.",
  appears: [
    ["outcome", "accepted, rejected or ignored, with the time and the device"],
    ["place", "language, file, scope and position of the cursor"],
    ["completion", "provider, lines, how long it was shown and how much of it was edited"],
  ],
  command: exampleCommand,
  Ways: GenerateButton,
});

function GenerateButton() {
  const client = useControl();
  return (
    <Button
      size="md"
      variant="filled"
      leftSection={<IconSparkles size={15} stroke={1.5} />}
      onClick={() => void attempt(client.action(eventsActions, "events", "sample.generate", usualSample))}
    >
      {`Generate ${formatCount(usualSample.count)} sample events`}
    </Button>
  );
}

/** The service is stopped, and nothing was read before. */
export function EventsStopped({ service, kept }: { readonly service: ServiceView | undefined; readonly kept: number | undefined }) {
  return (
    <EmptyPage>
      <EmptyState
        title="Events is stopped"
        text={
          kept === undefined || kept === 0
            ? "Collected events are kept. Start the service to browse them."
            : `${formatCountOf(kept, "event")} ${pluralOf(kept, "is", "are")} kept. Start the service to browse ${pluralOf(kept, "it", "them")}.`
        }
      >
        <StartServiceButton id="events" service={service} title="Start to browse" />
      </EmptyState>
    </EmptyPage>
  );
}

interface NothingMatchesProps {
  readonly events: number;
  /** Not all events were searched yet. */
  readonly more: boolean;
  readonly onAll: () => void;
  readonly onFurther: () => void;
}

export function NothingMatches({ events, more, onAll, onFurther }: NothingMatchesProps) {
  return (
    <NoRows
      text={
        more ? "None of the events searched so far matches the filter." : `None of ${formatCountOf(events, "event")} matches the filter.`
      }
      action="Show all"
      onAction={onAll}
    >
      {more && <Button onClick={onFurther}>Search older events</Button>}
    </NoRows>
  );
}
