import { expect, it } from "vitest";
import { connectedFirst } from "../../../servers/mqtt/inspector/client-list.ts";
import { firstInOrder } from "../../../servers/mqtt/inspector/sorted-list.ts";

const absent = (clientId: string) => ({ clientId, recipient: undefined });
const connected = (clientId: string) => ({ clientId, recipient: {} as never });

it("[MQTT-493] connected clients come first, then the list is sorted by identifier", () => {
  const sessions = [absent("b"), connected("d"), absent("a"), connected("c"), absent(""), connected("dd")];
  expect(firstInOrder(sessions, 5, connectedFirst).map(({ clientId }) => clientId)).toEqual(["c", "d", "dd", "", "a"]);
});

it("[MQTT-493] identifiers that differ behind 128 characters stay in the order in which the sessions began, on all pages", () => {
  const start = "c".repeat(128);
  const sessions = Array.from({ length: 50 }, (_, index) => absent(`${start}${99 - index}`));
  const first = absent(`${"c".repeat(127)}b`);
  expect(firstInOrder([...sessions, first], 51, connectedFirst)).toEqual([first, ...sessions]);
  expect(firstInOrder([...sessions, first], 10, connectedFirst)).toEqual([first, ...sessions.slice(0, 9)]);
});
