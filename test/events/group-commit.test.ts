import { expect, it } from "vitest";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import type { NewEvent } from "../../servers/events/completion-event.ts";
import { createGroupCommit } from "../../servers/events/group-commit.ts";
import { stored } from "./store-contract.ts";

/** Collects the groups; each commit waits until the test lets it end. */
function manualStore() {
  const groups: (readonly NewEvent[])[] = [];
  const pending: { end(): void; fail(error: unknown): void }[] = [];
  return {
    groups,
    pending,
    store: (events: readonly NewEvent[]) =>
      new Promise<void>((resolve, reject) => {
        groups.push(events);
        pending.push({ end: resolve, fail: reject });
      }),
  };
}
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const added = (commits: ReturnType<typeof createGroupCommit>, part = {}) =>
  new Promise<unknown>((resolve) => commits.add(stored(part), (error) => resolve(error ?? "stored")));

it("[EV-45] a single event is stored in the same turn; events of one turn, or of one commit's duration, share the next commit", async () => {
  const { store, groups, pending } = manualStore();
  const commits = createGroupCommit({ store });
  const first = added(commits);
  await turn();
  expect(groups.map(({ length }) => length)).toEqual([1]);
  const rest = Array.from({ length: 40 }, () => added(commits));
  await turn();
  expect(groups).toHaveLength(1);
  pending[0]?.end();
  expect(await first).toBe("stored");
  await turn();
  expect(groups.map(({ length }) => length)).toEqual([1, 40]);
  let drained = false;
  const draining = commits.drain().then(() => {
    drained = true;
  });
  await turn();
  expect(drained).toBe(false);
  pending[1]?.end();
  expect(await Promise.all(rest)).toEqual(rest.map(() => "stored"));
  await draining;
});

it("[EV-46] no response is sent before the commit, and one event that the database refuses does not fail the others", async () => {
  const stores: number[] = [];
  const commits = createGroupCommit({
    async store(events) {
      stores.push(events.length);
      if (events.some(({ language }) => language === "bad")) throw new Error("no such value");
    },
  });
  const results = await Promise.all([added(commits), added(commits, { language: "bad" }), added(commits)]);
  expect(results).toEqual(["stored", new Error("no such value"), "stored"]);
  expect(stores).toEqual([3, 1, 1, 1]);
});

it("[EV-47] events above the limit of waiting ones are refused at once", async () => {
  const { store, pending } = manualStore();
  const commits = createGroupCommit({ store, mostWaiting: 2 });
  const first = added(commits);
  await turn();
  const waiting = [added(commits), added(commits)];
  expect(await added(commits)).toMatchObject({ code: "STORE_BUSY" });
  pending[0]?.end();
  await turn();
  pending[1]?.fail(new ServiceError("STORE_FULL", "full", ""));
  expect(await first).toBe("stored");
  expect(await Promise.all(waiting)).toMatchObject([{ code: "STORE_FULL" }, { code: "STORE_FULL" }]);
});
