import type { Endpoint, Snippet } from "../../contract/service.ts";

const portOf = (endpoints: readonly Endpoint[], label: string): string =>
  new URL(endpoints.find((endpoint) => endpoint.label === label)?.url ?? "mqtt://127.0.0.1:1883").port;

export function mqttSnippets(endpoints: readonly Endpoint[]): Snippet[] {
  const port = portOf(endpoints, "MQTT");
  const webSocket = endpoints.find(({ label }) => label === "WS")?.url;
  return [
    { label: "Subscribe", language: "shell", text: `mosquitto_sub -h 127.0.0.1 -p ${port} -V 5 -t 'sensors/#' -v` },
    {
      label: "Publish",
      language: "shell",
      text: `mosquitto_pub -h 127.0.0.1 -p ${port} -V 5 -q 1 -t test/topic -m '{"message":"Hello, MQTT!","status":"test"}'`,
    },
    {
      label: "MQTT.js",
      language: "javascript",
      text: `import mqtt from "mqtt";

const client = await mqtt.connectAsync("mqtt://127.0.0.1:${port}", { protocolVersion: 5 });
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

const client = mqtt.connect("${webSocket}", { protocolVersion: 5 });
client.subscribe("sensors/#");
client.on("message", (topic, payload) => console.log(topic, new TextDecoder().decode(payload)));`,
          },
        ] as const)
      : []),
    {
      label: "Paho",
      language: "python",
      text: `import paho.mqtt.client as mqtt

client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
client.on_message = lambda client, data, message: print(message.topic, message.payload)
client.connect("127.0.0.1", ${port})
client.subscribe("test/topic", qos=1)
client.loop_forever()`,
    },
  ];
}
