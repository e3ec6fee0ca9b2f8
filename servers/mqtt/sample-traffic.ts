import type { MqttSampleParams, MqttViews } from "../../contract/services/mqtt.ts";
import { createSampleSwitch, type SampleSwitch } from "../core/traffic/sample-switch.ts";
import { encodeForwarded } from "./codec/encode-properties.ts";
import { Message } from "./engine/routing/message.ts";

interface Sensor {
  readonly topic: string;
  readonly unit: string;
  readonly decimals: number;
  readonly centre: number;
  readonly swing: number;
  /** Its properties, encoded. */
  readonly forwarded: Buffer;
  value: number;
}

const places = ["hall-a", "hall-b", "roof"] as const;
const kinds = [
  { name: "temperature", unit: "°C", decimals: 2, centre: 21, swing: 4 },
  { name: "humidity", unit: "%", decimals: 1, centre: 45, swing: 12 },
  { name: "pressure", unit: "hPa", decimals: 1, centre: 1_013, swing: 8 },
  { name: "vibration", unit: "mm/s", decimals: 3, centre: 1.2, swing: 0.8 },
] as const;

const tickMs = 50;

export interface MqttSampleOptions {
  readonly publish: (message: Message) => void;
  /** Throws where nothing can be published. */
  readonly check: () => void;
  readonly show: (view: MqttViews["sample"]) => void;
}

/** Plausible sensor readings on `sensors/{place}/{kind}`, some retained, and sometimes a message on test/topic. */
export function createMqttSampleTraffic({ publish, check, show }: MqttSampleOptions): SampleSwitch<MqttSampleParams> {
  const sensors: Sensor[] = places.flatMap((place) =>
    kinds.map((kind) => ({
      ...kind,
      topic: `sensors/${place}/${kind.name}`,
      value: kind.centre,
      forwarded: encodeForwarded({
        payloadFormatIndicator: 1,
        contentType: "application/json",
        userProperties: [
          ["place", place],
          ["unit", kind.unit],
        ],
      }),
    })),
  );
  let sequence = 0;

  function read(sensor: Sensor): number {
    // A random walk that returns to its centre.
    const step = (Math.random() - 0.5) * sensor.swing * 0.1;
    sensor.value += step + (sensor.centre - sensor.value) * 0.01;
    return Number(sensor.value.toFixed(sensor.decimals));
  }

  function publishNext(): void {
    const sensor = sensors[sequence % sensors.length] as Sensor;
    const payload = JSON.stringify({ v: read(sensor), unit: sensor.unit, seq: sequence, at: new Date().toISOString() });
    publish(
      new Message({
        topic: sensor.topic,
        payload: Buffer.from(payload),
        // Alternates for each sensor.
        qos: (sequence + Math.floor(sequence / sensors.length)) % 3 === 0 ? 1 : 0,
        retain: sensor.topic.endsWith("temperature"),
        forwarded: sensor.forwarded,
      }),
    );
    sequence++;
    if (sequence % 50 === 0) {
      const text = JSON.stringify({ message: "Hello, MQTT!", status: "test" });
      publish(new Message({ topic: "test/topic", payload: Buffer.from(text), qos: 0, retain: false }));
    }
  }

  return createSampleSwitch<MqttSampleParams>({
    check,
    show,
    play({ messagesPerSecond }) {
      let due = 1;
      const timer = setInterval(() => {
        for (due += (messagesPerSecond * tickMs) / 1_000; due >= 1; due--) publishNext();
      }, tickMs);
      return () => clearInterval(timer);
    },
  });
}
