import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";
import { EmptyState } from "../status/empty-state.tsx";
import { EmptyPage } from "../status/first-steps.tsx";
import { attempt } from "../status/notify.tsx";

interface StartServiceButtonProps {
  readonly id: ServiceId;
  readonly service: ServiceView | undefined;
  readonly title: string;
}

export function StartServiceButton({ id, service, title }: StartServiceButtonProps) {
  const client = useControl();
  return (
    <Button
      size="md"
      variant="filled"
      loading={service?.status.state === "starting"}
      leftSection={<IconPlayerPlay size={15} stroke={1.5} />}
      onClick={() => void attempt(client.call("service.start", { id }))}
    >
      {title}
    </Button>
  );
}

interface ServiceStoppedProps {
  readonly id: ServiceId;
  readonly text: string;
}

/** In place of a tab that needs the running service. */
export function ServiceStopped({ id, text }: ServiceStoppedProps) {
  const service = useService(id);
  const title = service?.title ?? "The service";
  return (
    <EmptyPage>
      <EmptyState title={`${title} is not running`} text={text}>
        <StartServiceButton id={id} service={service} title={`Start ${title}`} />
      </EmptyState>
    </EmptyPage>
  );
}
