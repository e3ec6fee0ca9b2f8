import type { ServiceView } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { EmptyPage, FirstSteps } from "../../ui/first-steps.tsx";
import { attempt } from "../../ui/notify.tsx";
import { SampleTrafficButton } from "../../ui/sample-traffic-button.tsx";
import { StartServiceButton } from "../../ui/start-service-button.tsx";
import { accountOrigin, exampleCommand, sampleLogin } from "./account-origin.ts";

const whatAppears = [
  ["call", "method, path and status, each with its headers, body and time"],
  ["who", "the user of the token or of Basic, also where the call was refused"],
  ["why not", "wrong password, token expired or revoked, too many attempts, unknown field"],
] as const;

interface AccountEmptyProps {
  readonly service: ServiceView | undefined;
  readonly sampling: boolean;
}

/** What would appear here, and the ways to make it appear. */
export function AccountEmpty({ service, sampling }: AccountEmptyProps) {
  const client = useControl();
  const origin = accountOrigin(service);
  const running = service?.status.state === "running";
  const toggleSample = () =>
    attempt(client.call("service.action", { id: "account", action: sampling ? "sample.stop" : "sample.start", params: {} }));
  const listening = (
    <>
      on <code>{origin.replace(/^https?:\/\//, "")}</code>, with and without <code>/api</code>. No call has come yet.
    </>
  );
  const point = (
    <>
      your client at <code>{origin}</code> and log in as <code>{sampleLogin.username}</code>, password <code>{sampleLogin.password}</code>.
    </>
  );
  return (
    <FirstSteps
      steps={[
        running
          ? { title: "Listening", text: listening }
          : { title: "Start", text: "the service. It answers on this computer only, unless you open it." },
        { title: "Point", text: point },
        { title: "Watch", text: "each call appear here, with who made it and why it was refused." },
      ]}
      ways={
        running ? (
          <SampleTrafficButton playing={sampling} onToggle={() => void toggleSample()} />
        ) : (
          <StartServiceButton id="account" service={service} title="Start Account" />
        )
      }
      appears={whatAppears}
      command={exampleCommand(origin)}
    />
  );
}

/** `what` completes "Start the service to see …". */
export function AccountStopped({ service, what }: { readonly service: ServiceView | undefined; readonly what: string }) {
  return (
    <EmptyPage>
      <EmptyState
        title="Account is not running"
        text={`What it keeps is kept while it is stopped, and the service itself reads it: start it to see ${what}.`}
      >
        <StartServiceButton id="account" service={service} title="Start Account" />
      </EmptyState>
    </EmptyPage>
  );
}
