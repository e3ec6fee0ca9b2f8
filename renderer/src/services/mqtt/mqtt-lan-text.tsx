import { useAnonymous } from "./broker/use-broker.ts";

/** Others on the network can reach the broker; whether they also need no name. */
export function MqttLanText() {
  return useAnonymous() ? "Anonymous, open to the LAN" : "Open to the LAN";
}
