import type { Endpoint, Snippet } from "../../contract/service.ts";
import type { MqttConfig } from "./mqtt-config.ts";

const portOf = (endpoints: readonly Endpoint[], label: string): string =>
  new URL(endpoints.find((endpoint) => endpoint.label === label)?.url ?? "mqtt://127.0.0.1:1883").port;

export function mqttSnippets(endpoints: readonly Endpoint[], { anonymous }: Pick<MqttConfig, "anonymous">): Snippet[] {
  const port = portOf(endpoints, "MQTT");
  const webSocket = endpoints.find(({ label }) => label === "WS")?.url;
  const shellUser = anonymous ? "" : " -u USER -P PASSWORD";
  const optionsUser = anonymous ? "" : ', username: "USER", password: "PASSWORD"';
  return [
    { label: "Subscribe", language: "shell", text: `mosquitto_sub -h 127.0.0.1 -p ${port} -V 5${shellUser} -t 'sensors/#' -v` },
    {
      label: "Publish",
      language: "shell",
      text: `mosquitto_pub -h 127.0.0.1 -p ${port} -V 5${shellUser} -q 1 -t test/topic -m '{"message":"Hello, MQTT!","status":"test"}'`,
    },
    {
      label: "MQTT.js",
      language: "javascript",
      text: `import mqtt from "mqtt";

const client = await mqtt.connectAsync("mqtt://127.0.0.1:${port}", { protocolVersion: 5${optionsUser} });
client.on("message", (topic, payload) => console.log(topic, payload.toString()));
await client.subscribeAsync("test/topic", { qos: 1 });
await client.publishAsync("test/topic", "Hello, MQTT!", { qos: 1 });`,
    },
    ...(webSocket
      ? ([
          {
            label: "In a browser",
            language: "javascript",
            text: `import mqtt from "mqtt";

const client = mqtt.connect("${webSocket}", { protocolVersion: 5${optionsUser} });
client.subscribe("sensors/#");
client.on("message", (topic, payload) => console.log(topic, new TextDecoder().decode(payload)));`,
          },
        ] as const)
      : []),
    {
      label: "Paho",
      language: "python",
      text: `import paho.mqtt.client as mqtt

version = [mqtt.CallbackAPIVersion.VERSION2] if hasattr(mqtt, "CallbackAPIVersion") else []
client = mqtt.Client(*version, protocol=mqtt.MQTTv5)
${anonymous ? "" : 'client.username_pw_set("USER", "PASSWORD")\n'}client.on_message = lambda client, data, message: print(message.topic, message.payload)
client.connect("127.0.0.1", ${port})
client.subscribe("test/topic", qos=1)
client.loop_forever()`,
    },
  ];
}
