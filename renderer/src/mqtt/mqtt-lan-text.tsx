import { useEffect, useState } from "react";
import { useControl } from "../control/client-context.tsx";
import { useService } from "../control/use-services.ts";

/** Others on the network can reach the broker; whether they also need no name. */
export function MqttLanText() {
  const client = useControl();
  const service = useService("mqtt");
  const [anonymous, setAnonymous] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a start takes over what was configured.
  useEffect(() => {
    let isWanted = true;
    client.call("config.read", { id: "mqtt" }).then(
      ({ fields }) => isWanted && setAnonymous(fields.find(({ name }) => name === "anonymous")?.value === true),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [client, service?.status.state]);
  return anonymous ? "Anonymous, open to the LAN" : "Open to the LAN";
}
