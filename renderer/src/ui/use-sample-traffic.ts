import type { ServiceId } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import type { ControlClient } from "../control/control-client.ts";
import { useView } from "../control/use-view.ts";
import { attempt } from "./notify.tsx";

/** Every service that can send itself sample traffic has these actions, and a view `sample` that says whether it does. */
const action = (client: ControlClient, id: ServiceId, name: "sample.start" | "sample.stop") =>
  client.call("service.action", { id, action: name, params: {} });

export function useStartSampleTraffic() {
  const client = useControl();
  return (ids: readonly ServiceId[]) => attempt(Promise.all(ids.map((id) => action(client, id, "sample.start"))));
}

/** Whether a service sends itself sample traffic, and the switch. */
export function useSampleTraffic(id: ServiceId) {
  const client = useControl();
  const playing = useView<{ readonly running: boolean }>(id, "sample")?.running ?? false;
  return { playing, toggle: () => void attempt(action(client, id, playing ? "sample.stop" : "sample.start")) };
}
