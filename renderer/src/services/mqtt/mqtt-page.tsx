import { defineServicePage, liveTab, tryTab } from "../../pages/service/define-service-page.ts";
import { useAnonymous } from "./broker/use-broker.ts";
import { MqttEventInspector } from "./inspectors/mqtt-event-inspector.tsx";
import { MqttMessageInspector } from "./inspectors/mqtt-message-inspector.tsx";
import { mqttRowCommands } from "./inspectors/mqtt-row-commands.ts";
import { MqttLive } from "./live/mqtt-live.tsx";
import { mqttPageCommands } from "./live/mqtt-page-commands.ts";
import { MqttTry } from "./try/mqtt-try.tsx";

/** Other computers can reach the broker; whether they need a login. */
function LanText() {
  return useAnonymous() ? "Anonymous, open to the LAN" : "Open to the LAN";
}

const clientFaults = {
  id: "mqtt-client-faults",
  title: "Faults of a client",
  keywords: "freeze delay slow neither read nor write",
  where: "Choose a client",
};

export const mqttPage = defineServicePage({
  id: "mqtt",
  color: "--bl-s6",
  minSample: { verb: "QoS 0, retained", outcome: "0 of 0 acknowledged" },
  inspectors: { "mqtt-message": MqttMessageInspector, "mqtt-event": MqttEventInspector },
  rowCommands: mqttRowCommands,
  tabs: [liveTab(MqttLive, [...Object.values(mqttPageCommands), clientFaults]), tryTab(MqttTry)],
  LanText,
});
