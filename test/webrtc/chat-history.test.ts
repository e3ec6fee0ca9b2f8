import { expect, it } from "vitest";
import { ChatHistory } from "../../servers/webrtc/signalling/chat-history.ts";
import { Room } from "../../servers/webrtc/signalling/room.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startWebrtc } from "./webrtc-harness.ts";

const textsOf = (room: Room) => Array.from(room.chat, ({ message }) => message.text);

it("[WEBRTC-545] one address that talks in many rooms takes the history from nobody", async () => {
  const service = await startWebrtc({ chatHistory: 20, chatHistoryBytes: 100_000 });
  const bystander = await service.connect({ host: "[::1]" });
  const greedy = await service.connect();
  await bystander.join("standup");
  await greedy.join("standup");
  bystander.send({ type: "chat", room: "standup", text: "kept" });
  await greedy.next("chat");
  for (let room = 0; room < 20; room++) {
    greedy.send({ type: "join", room: `many ${room}` });
    for (let count = 0; count < 20; count++) greedy.send({ type: "chat", room: `many ${room}`, text: "x".repeat(500) });
  }
  await greedy.settled();
  greedy.send({ type: "chat", room: "standup", text: "the last one" });
  await greedy.settled();
  const texts = (await service.act("room.chat", { room: "standup" })).map(({ text }) => text);
  expect(texts).toEqual(["kept", "the last one"]);
  expect(await service.act("room.chat", { room: "many 0" })).toEqual([]);
  expect((await service.act("room.chat", { room: "many 19" })).length).toBe(20);
});

it("[WEBRTC-545] what is kept stays within the bytes, in its order, whoever says what where, and rooms close", () => {
  const random = seededRandom(545);
  const most = 20_000;
  const history = new ChatHistory({ chatHistory: 8, chatHistoryBytes: most });
  const rooms = Array.from({ length: 6 }, (_, index) => new Room(String(index), undefined));
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", ""];
  for (let step = 0; step < 5_000; step++) {
    const room = rooms[random.below(rooms.length)] as Room;
    if (random.chance(0.02)) history.forget(room);
    else {
      const text = `${String(step).padStart(6, "0")}${"x".repeat(random.below(2_000))}`;
      history.add(
        room,
        { type: "chat", from: "a", name: "", text, at: 0, room: room.name },
        addresses[random.below(addresses.length)] ?? "",
      );
    }
    const kept = rooms.flatMap((one) => [...one.chat]);
    expect(history.bytes).toBe(kept.reduce((sum, { message: { text, from } }) => sum + 300 + 2 * (text.length + from.length), 0));
    expect(history.bytes).toBeLessThanOrEqual(most);
    for (const one of rooms) {
      expect(one.chat.size).toBeLessThanOrEqual(8);
      expect(textsOf(one)).toEqual(textsOf(one).toSorted());
    }
  }
  for (const room of rooms) history.forget(room);
  expect(history.bytes).toBe(0);
});

it("[WEBRTC-545] without bytes, or without messages, nothing is kept", () => {
  for (const limits of [
    { chatHistory: 50, chatHistoryBytes: 0 },
    { chatHistory: 0, chatHistoryBytes: 1_000_000 },
  ]) {
    const history = new ChatHistory(limits);
    const room = new Room("a", undefined);
    history.add(room, { type: "chat", from: "a", name: "", text: "x", at: 0, room: "a" }, "192.0.2.1");
    expect([room.chat.size, room.chatMessages, history.bytes]).toEqual([0, 1, 0]);
  }
});
