import type { ServiceView } from "../../../../contract/service.ts";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../ui/status/first-steps.tsx";

/** `what` completes "Start the service to see …". */
export function AccountStopped({ service, what }: { readonly service: ServiceView | undefined; readonly what: string }) {
  return (
    <EmptyPage>
      <EmptyState title="Account is not running" text={`Its data is kept while it is stopped. Start the service to see ${what}.`}>
        <StartServiceButton id="account" service={service} title="Start Account" />
      </EmptyState>
    </EmptyPage>
  );
}
