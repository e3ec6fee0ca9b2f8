import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { createAccountViews } from "../../servers/account/page/account-views.ts";
import type { AccountStore } from "../../servers/account/store/account-store.ts";
import type { FailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { until } from "../support/until.ts";

it("[AC-53] the page's views read the store in steps, each in a turn of the event loop", async () => {
  let turn = 0;
  let isOver = false;
  const turns: number[] = [];
  const read = <Result>(result: Result) => {
    turns.push(turn);
    return result;
  };
  const store = {
    users: { list: () => read({ users: [], matching: 0 }), count: () => 0 },
    sessions: {
      list: () => read({ sessions: [], matching: 0 }),
      tokens: () => read({ tokens: [], matching: 0 }),
      liveTokens: () => read(0),
      liveSessions: () => read(0),
    },
  } as unknown as AccountStore;
  const limits = { usage: () => ({}) } as unknown as FailureLimits;
  const shown: string[] = [];
  const count = async () => {
    for (; !isOver; turn++) await nextTurn();
  };
  void count();
  const views = createAccountViews({
    store,
    limits,
    now: () => 0,
    onFault: (error) => expect.fail(String(error)),
    isWatched: () => false,
    view: (name) => void shown.push(name),
  });
  onTestFinished(() => {
    isOver = true;
    views.close();
  });
  await until(() => shown.includes("limits"));
  expect(shown).toEqual(["users", "sessions", "tokens", "totals", "limits"]);
  expect([turns.length, new Set(turns).size]).toEqual([5, 5]);
});
