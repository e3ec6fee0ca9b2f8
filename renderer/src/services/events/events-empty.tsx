import { Button } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import type { ServiceView } from "../../../../contract/service.ts";
import { eventsActions } from "../../../../contract/services/events.ts";
import { useControl } from "../../control/client-context.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { EmptyPage, FirstSteps } from "../../ui/first-steps.tsx";
import { Nothing } from "../../ui/nothing.tsx";
import { attempt } from "../../ui/notify.tsx";
import { formatCount, formatCountOf } from "../../ui/quantity.ts";
import { SampleTrafficButton } from "../../ui/sample-traffic-button.tsx";
import { StartServiceButton } from "../../ui/start-service-button.tsx";
import { eventsOrigin } from "./events-origin.ts";
import { exampleCommand } from "./example-events.ts";
import { usualSample } from "./generate-dialog.tsx";

const whatAppears = [
  ["outcome", "accepted, rejected or ignored, with the time and the device"],
  ["where", "language, file, scope and position of the cursor"],
  ["completion", "provider, lines, how long it was shown and how much of it was edited"],
] as const;

/** What would appear here, and the ways to make it appear. */
export function EventsEmpty({ service, sampling }: { readonly service: ServiceView | undefined; readonly sampling: boolean }) {
  const client = useControl();
  const origin = eventsOrigin(service);
  const running = service?.status.state === "running";
  const listening = (
    <>
      on <code>{origin.replace(/^https?:\/\//, "")}</code>. No event is stored yet.
    </>
  );
  const point = (
    <>
      the plugin at <code>{`${origin}/events`}</code>, or begin with made-up events.
    </>
  );
  return (
    <FirstSteps
      steps={[
        running
          ? { title: "Listening", text: listening }
          : { title: "Start", text: "the service. It answers on this computer only, unless you open it." },
        { title: "Point", text: point },
        { title: "Watch", text: "each event appear here within a second, counted in the plots." },
      ]}
      ways={
        running ? (
          <>
            <Button
              size="md"
              variant="filled"
              leftSection={<IconSparkles size={15} stroke={1.5} />}
              onClick={() => void attempt(client.action(eventsActions, "events", "sample.generate", usualSample))}
            >
              {`Generate ${formatCount(usualSample.count)} sample events`}
            </Button>
            <SampleTrafficButton
              playing={sampling}
              primary={false}
              onToggle={() => void attempt(client.action(eventsActions, "events", sampling ? "sample.stop" : "sample.start"))}
            />
          </>
        ) : (
          <StartServiceButton id="events" service={service} title="Start Events" />
        )
      }
      appears={whatAppears}
      command={exampleCommand(origin)}
    />
  );
}

/** The service is stopped, and nothing was read before it was. */
export function EventsStopped({ service, kept }: { readonly service: ServiceView | undefined; readonly kept: number | undefined }) {
  return (
    <EmptyPage>
      <EmptyState
        title="Events is stopped"
        text={
          kept === undefined || kept === 0
            ? "What it has collected is kept. It is read by the service itself, so start it to look through it."
            : `${formatCountOf(kept, "event")} ${kept === 1 ? "is" : "are"} kept. They are read by the service itself, so start it to look through them.`
        }
      >
        <StartServiceButton id="events" service={service} title="Start to browse" />
      </EmptyState>
    </EmptyPage>
  );
}

interface NothingMatchesProps {
  readonly events: number;
  /** Not all was looked at yet. */
  readonly more: boolean;
  readonly onAll: () => void;
  readonly onFurther: () => void;
}

export function NothingMatches({ events, more, onAll, onFurther }: NothingMatchesProps) {
  return (
    <Nothing
      text={
        more ? "None of the events looked at so far matches the filter." : `None of ${formatCountOf(events, "event")} matches the filter.`
      }
      action="Show all"
      onAction={onAll}
    >
      {more && <Button onClick={onFurther}>Look further back</Button>}
    </Nothing>
  );
}
