import { defineServicePage, liveTab, tryTab } from "../../pages/service/define-service-page.ts";
import { MqttLive } from "./live/mqtt-live.tsx";
import { MqttLanText } from "./mqtt-lan-text.tsx";
import { MqttTry } from "./try/mqtt-try.tsx";

export const mqttPage = defineServicePage({
  id: "mqtt",
  color: "--bl-s6",
  widest: { verb: "QoS 1, retain", outcome: "no subscriber" },
  tabs: [liveTab(MqttLive), tryTab(MqttTry)],
  LanText: MqttLanText,
});
