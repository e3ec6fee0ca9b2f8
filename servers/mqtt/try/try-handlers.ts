import type { Handlers } from "../../../contract/operation.ts";
import type { MqttActions } from "../../../contract/services/mqtt.ts";
import type { TryClient } from "./try-client.ts";

type TryActions = { [Name in keyof MqttActions as Name extends `try.${string}` ? Name : never]: MqttActions[Name] };

export const tryHandlers = (tryClient: TryClient, onChange: () => void): Handlers<TryActions> => ({
  "try.connect": (options) => tryClient.connect(options),
  "try.disconnect"({ how }) {
    tryClient.disconnect(how);
    return null;
  },
  "try.publish": (params) => tryClient.publish(params),
  "try.subscribe": (options) => tryClient.subscribe(options),
  "try.unsubscribe": ({ filter }) => tryClient.unsubscribe(filter),
  "try.received": (query) => ({ messages: tryClient.received.newest(query), received: tryClient.received.count }),
  "try.clear"() {
    tryClient.received.clear();
    onChange();
    return null;
  },
});
