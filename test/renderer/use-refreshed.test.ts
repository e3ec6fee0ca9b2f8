import { expect, it } from "vitest";
import { createAnswerStore, createRefresher } from "../../renderer/src/control/use-refreshed.ts";

/** A read that answers when told to. */
function heldReads<Answer>() {
  const waiting: { answer(value: Answer): void; fail(error: Error): void }[] = [];
  const read = () => new Promise<Answer>((resolve, reject) => waiting.push({ answer: resolve, fail: reject }));
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  return { waiting, read, settle };
}

it("a refresh that is asked for during a read follows it, once however often it was asked for", async () => {
  const { waiting, read, settle } = heldReads<void>();
  const refresh = createRefresher(read);
  void refresh();
  const done = [refresh(), refresh(), refresh()];
  expect(waiting.length).toBe(1);
  waiting[0]?.answer();
  await settle();
  expect(waiting.length).toBe(2);
  waiting[1]?.answer();
  await Promise.all(done);
  expect(waiting.length).toBe(2);
});

it("[MQTT-276] the last change is read, also where it came during a read, and by a slow service never two at once", async () => {
  const { waiting, read, settle } = heldReads<string>();
  const failures: unknown[] = [];
  const store = createAnswerStore<number, string>({ read, onFailure: (error) => failures.push(error) });
  void store.ask(7);
  void store.ask(7);
  waiting[0]?.answer("none acknowledged");
  await settle();
  expect([store.get(), waiting.length]).toEqual([{ key: 7, answer: "none acknowledged" }, 2]);
  waiting[1]?.answer("all acknowledged");
  await settle();
  expect(store.get()).toEqual({ key: 7, answer: "all acknowledged" });
});

it("the failure of a question that is not asked any more is nobody's", async () => {
  const { waiting, read, settle } = heldReads<string>();
  const failures: unknown[] = [];
  const store = createAnswerStore<number, string>({ read, onFailure: (error) => failures.push(error) });
  void store.ask(1);
  void store.ask(2);
  waiting[0]?.fail(new Error("1 is gone"));
  await settle();
  waiting[1]?.fail(new Error("2 is gone"));
  await settle();
  expect(failures.map(String)).toEqual(["Error: 2 is gone"]);
});
