import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { type SampleViews, sampleActions } from "../../../../contract/sample-traffic.ts";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { useControl } from "../../control/client-context.tsx";
import type { ControlClient } from "../../control/control-client.ts";
import { useView } from "../../control/use-store.ts";
import { attempt } from "../status/notify.tsx";

const action = (client: ControlClient, id: ServiceId, name: keyof typeof sampleActions) => client.action(sampleActions, id, name);

export function useStartSampleTraffic() {
  const client = useControl();
  return (ids: readonly ServiceId[]) => attempt(Promise.all(ids.map((id) => action(client, id, "sample.start"))));
}

export function useStopSampleTraffic() {
  const client = useControl();
  return (ids: readonly ServiceId[]) => attempt(Promise.all(ids.map((id) => action(client, id, "sample.stop"))));
}

export const playingSamples = (services: readonly ServiceView[]): readonly ServiceId[] =>
  services.filter(({ playsSample }) => playsSample).map(({ id }) => id);

/** Stops the sample traffic of all services; nothing if none has any. */
export function StopAllSamples({ services }: { readonly services: readonly ServiceView[] }) {
  const stop = useStopSampleTraffic();
  const ids = playingSamples(services);
  if (ids.length === 0) return null;
  return (
    <Button leftSection={<IconPlayerStop size={14} stroke={1.5} />} onClick={() => void stop(ids)}>
      Stop sample traffic
    </Button>
  );
}

/** Shows and switches the sample traffic of a service. */
export function useSampleTraffic(id: ServiceId) {
  const client = useControl();
  const playing = useView<SampleViews["sample"]>(id, "sample")?.running ?? false;
  return { playing, toggle: () => void attempt(action(client, id, playing ? "sample.stop" : "sample.start")) };
}

interface SampleTrafficButtonProps {
  readonly playing: boolean;
  /** It is the primary action of an empty page. */
  readonly primary?: boolean;
  readonly onToggle: () => void;
}

export function SampleTrafficButton({ playing, primary = true, onToggle }: SampleTrafficButtonProps) {
  const Icon = playing ? IconPlayerStop : IconPlayerPlay;
  return (
    <Button size="md" variant={primary && !playing ? "filled" : "default"} leftSection={<Icon size={15} stroke={1.5} />} onClick={onToggle}>
      {playing ? "Stop sample traffic" : "Send sample traffic"}
    </Button>
  );
}
