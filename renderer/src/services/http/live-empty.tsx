import type { ServiceView } from "../../../../contract/service.ts";
import { httpActions } from "../../../../contract/services/http.ts";
import { useControl } from "../../control/client-context.tsx";
import { isPickedAtStart } from "../../ui/address.ts";
import { FirstSteps } from "../../ui/first-steps.tsx";
import { attempt } from "../../ui/notify.tsx";
import { SampleTrafficButton } from "../../ui/sample-traffic-button.tsx";
import { StartServiceButton } from "../../ui/start-service-button.tsx";
import { httpOrigin } from "./endpoint.ts";
import { useHttpViews } from "./use-http-views.ts";

const whatAppears = [
  ["request", "method, path and status, the newest first, with size and time"],
  ["inside", "headers and body as they came and as they were answered, and where the time went"],
  ["stream", "who listens to server-sent events, and each event that was sent"],
] as const;

/** What would appear here, and two ways to make it appear. */
export function LiveEmpty({ service }: { readonly service: ServiceView | undefined }) {
  const client = useControl();
  const { sample } = useHttpViews();
  const origin = httpOrigin(service);
  const running = service?.status.state === "running";
  return (
    <FirstSteps
      steps={[
        running
          ? { title: "Listening", text: `on ${origin.replace(/^https?:\/\//, "")}. Nothing to show yet.` }
          : { title: "Start", text: "the service. It answers on this computer only, unless you open it." },
        { title: "Point", text: `your app at ${isPickedAtStart(origin) ? "its address" : origin}, or let the sample traffic play.` },
        { title: "Watch", text: "each request appear here, with its answer, headers, body and time." },
      ]}
      ways={
        running ? (
          <SampleTrafficButton
            playing={sample.running}
            onToggle={() => void attempt(client.action(httpActions, "http", sample.running ? "sample.stop" : "sample.start"))}
          />
        ) : (
          <StartServiceButton id="http" service={service} title="Start HTTP" />
        )
      }
      appears={whatAppears}
      command={isPickedAtStart(origin) ? undefined : `curl ${origin}/api/data`}
    />
  );
}
