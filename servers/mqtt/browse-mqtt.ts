import { type MqttActions, type MqttViews, mqttActions } from "../../contract/services/mqtt.ts";
import { refusedActions, type ServiceContext } from "../core/service/service.ts";
import { historyHandlers } from "./inspector/history-actions.ts";
import { MessageRecorder, type RecorderConfig, recorderLimits } from "./inspector/message-recorder.ts";

/** The topic tree and the history of a broker that is stopped, from the records that the supervisor kept. */
export async function browseMqtt(context: ServiceContext<RecorderConfig, MqttActions, MqttViews>): Promise<void> {
  const { config } = context;
  const recorder = new MessageRecorder(context.traffic, recorderLimits(config));
  context.onStop(() => recorder.close());
  await recorder.restoreFrom(context.kept);
  const history = historyHandlers(recorder, () => false);
  const showKept = () => context.view("history", { kept: recorder.kept });
  showKept();
  context.handle({
    ...refusedActions(mqttActions, "MQTT"),
    ...history,
    "history.clear": async (params) => {
      const cleared = await history["history.clear"](params);
      showKept();
      return cleared;
    },
    "history.restore": async (params) => {
      const restored = await history["history.restore"](params);
      showKept();
      return restored;
    },
  });
}
