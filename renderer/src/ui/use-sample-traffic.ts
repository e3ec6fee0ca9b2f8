import type { ServiceId } from "../../../contract/service.ts";
import { useControl } from "../control/client-context.tsx";
import { attempt } from "./notify.tsx";

/** Every service with sample traffic starts it by an action of this name. */
const sampleAction = "sample.start";

export function useSampleTraffic() {
  const client = useControl();
  return (ids: readonly ServiceId[]) =>
    attempt(Promise.all(ids.map((id) => client.call("service.action", { id, action: sampleAction, params: {} }))));
}
