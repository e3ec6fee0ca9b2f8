import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { SampleTrafficButton, useSampleTraffic } from "../../ui/services/sample-traffic.tsx";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { FirstSteps } from "../../ui/status/first-steps.tsx";
import { addressOf, isPickedAtStart, originOf } from "../../ui/texts/address.ts";
import { clockSeconds } from "../../ui/texts/time.ts";
import { useAppInfo } from "../settings/about.tsx";
import type { EmptyText } from "./define-service-page.ts";

interface ServiceEmptyProps {
  readonly id: ServiceId;
  readonly service: ServiceView | undefined;
  readonly text: EmptyText;
  /** The list has had rows, and was cleared. */
  readonly isCleared: boolean;
}

/** Completes "Point ", where the system picks the port. */
const pointOnceStarted = "your client at its address, shown above once it runs, or send sample traffic.";

/** To a page that was open before. */
const startedAnew = (at: number) =>
  `Backlot was started again at ${clockSeconds(at)}: what it had recorded before is gone, and nothing was recorded yet.`;

/** Shown on an empty page: what will appear here, and how to produce it. */
export function ServiceEmpty({ id, service, text, isCleared }: ServiceEmptyProps) {
  const { Ways } = text;
  const sample = useSampleTraffic(id);
  const { value: info } = useAppInfo();
  const isAnew = info !== undefined && info !== null && performance.timeOrigin < info.startedAt;
  const origin = originOf(service);
  const isKnown = !isPickedAtStart(origin);
  const running = service?.status.state === "running";
  return (
    <FirstSteps
      steps={[
        running
          ? {
              title: "Listening",
              text: (
                <>
                  on <code>{addressOf(origin)}</code>.{" "}
                  {isCleared ? "The list was cleared." : isAnew ? startedAnew(info.startedAt) : text.nothing}
                </>
              ),
            }
          : { title: "Start", text: "the service. It answers on this computer only, unless you open it to the LAN." },
        { title: "Point", text: isKnown ? text.point(origin) : pointOnceStarted },
        { title: "Watch", text: text.watch },
      ]}
      ways={
        running ? (
          <>
            {Ways && <Ways />}
            <SampleTrafficButton playing={sample.playing} primary={!Ways} onToggle={sample.toggle} />
          </>
        ) : (
          <StartServiceButton id={id} service={service} title={`Start ${service?.title ?? "the service"}`} />
        )
      }
      appears={text.appears}
      command={isKnown ? text.command(origin) : undefined}
    />
  );
}
