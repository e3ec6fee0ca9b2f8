import { expect, it } from "vitest";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { MessageRecord } from "../../../servers/mqtt/inspector/message-record.ts";
import { createRecorded, recordOf } from "../../support/records.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const context = {
  payloadLimit: 8,
  inCluster: true,
  isStored: true,
  hasStoredSessions: true,
  onAcknowledged() {},
  onReleased() {},
  onChanged() {},
};

it("[MQTT-226] the record of a message has all of its detail, in whatever pieces it was written", () => {
  const message = new Message({ topic: "a/\u00e4", payload: Buffer.from("\0payload that is cut"), qos: 1, retain: true });
  const packet = Buffer.concat([Buffer.from([0x33, 0x20]), message.payload]);
  const origin = { version: 5, peer: "127.0.0.1:1", dup: true, topicAlias: 7, packet };
  const record = new MessageRecord(3, message.topic, message, origin, context);
  const recorded = createRecorded();
  record.delivered("one", 1);
  record.delivered("two", 1);
  recorded.add({ records: recordOf(record) });
  expect(recorded.rows.get(3)).toMatchObject({ kind: "mqtt-message", tone: "pending", target: "a/\u00e4" });
  expect(recorded.detail(3)).toEqual(record.details());
  const first = recordOf(record).length;
  record.acknowledged("one", 0);
  record.acknowledged("two", 0x10);
  record.dropped("three", "queue full");
  record.settle();
  const rest = recordOf(record);
  recorded.add({ records: rest });
  // The message itself is written once.
  expect(rest.length).toBeLessThan(first + 60);
  expect(recorded.rows.get(3)?.tone).toBe("failed");
  expect(recorded.detail(3)).toEqual(record.details());
  expect(record.details()).toMatchObject({
    bytes: 20,
    payload: message.payload.subarray(0, 8).toString("base64"),
    packet: packet.subarray(0, 10).toString("base64"),
    deliveries: [{ clientId: "one" }, { reason: 0x10 }, { dropped: "queue full" }],
  });
});

it("[MQTT-226] damaged records decode in part or throw a RecordError, nothing else (seeded)", () => {
  const message = new Message({ topic: "a/b", payload: Buffer.from("payload"), qos: 0, retain: false });
  const record = new MessageRecord(1, message.topic, message, undefined, context);
  record.delivered("one", 0);
  record.settle();
  const whole = Buffer.from(recordOf(record));
  for (let seed = 1; seed <= 500; seed++) {
    const random = seededRandom(seed);
    const bytes = Buffer.from(whole.subarray(0, random.below(whole.length + 1)));
    for (let changes = random.below(5); changes > 0 && bytes.length > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
    const recorded = createRecorded();
    try {
      for (const id of recorded.add({ records: bytes })) recorded.detail(id);
    } catch (error) {
      expect((error as Error).constructor.name, `seed ${seed}: ${(error as Error).stack}`).toBe("RecordError");
    }
  }
});
