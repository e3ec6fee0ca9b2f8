import { useService } from "../../control/use-store.ts";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../ui/status/first-steps.tsx";

/** In place of what only the running service has. */
export function GrpcStopped({ text }: { readonly text: string }) {
  const service = useService("grpc");
  return (
    <EmptyPage>
      <EmptyState title="gRPC is not running" text={text}>
        <StartServiceButton id="grpc" service={service} title="Start gRPC" />
      </EmptyState>
    </EmptyPage>
  );
}
