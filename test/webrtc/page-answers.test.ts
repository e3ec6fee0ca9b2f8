import { expect, it } from "vitest";
import { startWebrtc } from "./webrtc-harness.ts";

const limits = { chatLength: 60_000, chatHistory: 1_000, messageBytes: 1 << 20, unsentBytes: 64 << 20 };
const mostText = (1 << 20) + 1_000;
const sumOf = (messages: readonly { readonly text: string }[]) => messages.reduce((sum, { text }) => sum + text.length, 0);

it("[WEBRTC-582] the page reads the newest chat of a room, as much as fits in an answer", async () => {
  const service = await startWebrtc(limits);
  const client = await service.connect();
  await client.join("standup");
  for (let count = 0; count < 40; count++) {
    client.send({ type: "chat", room: "standup", text: `${count}:${"x".repeat(50_000)}` });
    await client.settled();
  }
  const chat = await service.act("room.chat", { room: "standup" });
  expect(sumOf(chat)).toBeLessThan(mostText);
  expect(chat.map(({ text }) => Number(text.split(":")[0]))).toEqual(Array.from({ length: 20 }, (_, index) => 20 + index));
});

it("[WEBRTC-582] what strangers send to the peers of Try is read part by part, and ends the call where it is too much", async () => {
  const service = await startWebrtc(limits);
  const { call, room } = await service.act("try.open", {});
  const stranger = await service.connect();
  await stranger.join(room);
  for (let count = 0; count < 60; count++) {
    stranger.send({ type: "chat", room, text: `${count}:${"x".repeat(50_000)}` });
    await stranger.settled();
  }
  const texts: string[] = [];
  for (let from = 0, ended: string | undefined; ended === undefined; ) {
    const read = await service.act("try.read", { call, from });
    expect(sumOf(read.messages)).toBeLessThan(mostText);
    texts.push(...read.messages.map(({ text }) => text));
    from = read.next;
    ({ ended } = read);
    if (ended !== undefined) expect(ended).toBe("it got too many messages");
  }
  expect(texts.join("").length).toBeLessThan(4 << 20);
  expect(texts.length).toBeGreaterThan(70);
});
