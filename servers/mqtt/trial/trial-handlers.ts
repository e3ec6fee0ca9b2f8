import type { MqttActions } from "../../../contract/mqtt.ts";
import type { Handlers } from "../../../contract/operation.ts";
import type { TrialClient } from "./trial-client.ts";

type TrialActions = { [Name in keyof MqttActions as Name extends `try.${string}` ? Name : never]: MqttActions[Name] };

export const trialHandlers = (trial: TrialClient, onChange: () => void): Handlers<TrialActions> => ({
  "try.connect": (options) => trial.connect(options),
  "try.disconnect"({ how }) {
    trial.disconnect(how);
    return null;
  },
  "try.publish": (params) => trial.publish(params),
  "try.subscribe": (options) => trial.subscribe(options),
  "try.unsubscribe": ({ filter }) => trial.unsubscribe(filter),
  "try.received": (query) => ({ messages: trial.received.newest(query), received: trial.received.count }),
  "try.clear"() {
    trial.received.clear();
    onChange();
    return null;
  },
});
