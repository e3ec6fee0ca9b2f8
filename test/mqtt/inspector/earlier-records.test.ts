import { expect, it } from "vitest";
import { resultOf } from "../../../servers/core/turns/work-connection.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { EarlierRecords } from "../../../servers/mqtt/inspector/earlier-records.ts";
import { MessageRecord } from "../../../servers/mqtt/inspector/message-record.ts";
import { recordContext } from "./record-context.ts";

it("[MQTT-496] what becomes of messages before their records are read is in them; other records with their numbers are left alone", () => {
  const message = new Message({ topic: "a", payload: Buffer.from("x"), qos: 1, retain: false });
  const records = new Map([1, 2].map((id) => [id, new MessageRecord(id, "a", message, undefined, recordContext)] as const));
  const [first, second] = [...records.values()] as [MessageRecord, MessageRecord];
  const earlier = new EarlierRecords((id) => records.get(id));
  const trace = earlier.traceOf(1, first.at);
  trace.delivered("client", 1);
  const others = [earlier.traceOf(2, second.at - 1), earlier.traceOf(3, second.at)];
  for (const other of others) other.dropped("client", "expired");
  expect(first.deliveredCount).toBe(0);
  resultOf(earlier.read());
  expect([first.deliveredCount, first.acknowledgedCount, second.droppedCount]).toEqual([1, 0, 0]);
  trace.acknowledged("client", 0);
  for (const other of others) other.dropped("client", "expired");
  expect([first.acknowledgedCount, second.droppedCount]).toEqual([1, 0]);
});

it("[MQTT-496] a message that is acknowledged was delivered, also where no process recorded that it was sent", () => {
  const message = new Message({ topic: "a", payload: Buffer.from("x"), qos: 1, retain: false });
  const record = new MessageRecord(1, "a", message, undefined, recordContext);
  record.owes("sent", 1);
  record.owes("sent", -1);
  record.acknowledged("client", 0);
  const counts = { delivered: 1, acknowledgeable: 1, acknowledged: 1 };
  expect(record.details()).toMatchObject({
    ...counts,
    deliveries: [{ clientId: "client", qos: 1, acknowledgedAfterMs: expect.any(Number) }],
  });
  record.delivered("other", 1);
  record.acknowledged("other", 0);
  expect(record.summary()).toMatchObject({ delivered: 2, acknowledgeable: 2, acknowledged: 2 });
});
