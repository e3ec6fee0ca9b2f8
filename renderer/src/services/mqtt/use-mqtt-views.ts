import { useState } from "react";
import type { MqttViews } from "../../../../contract/services/mqtt.ts";
import { useTopic } from "../../control/use-store.ts";

/** The service's own views, the newest of each; none before the first answer. */
export function useMqttViews(): Partial<MqttViews> {
  const [views, setViews] = useState<Partial<MqttViews>>({});
  useTopic("view/mqtt", ({ items }) =>
    setViews((known) => ({ ...known, ...Object.fromEntries(items.map(({ name, value }) => [name, value])) })),
  );
  return views;
}
