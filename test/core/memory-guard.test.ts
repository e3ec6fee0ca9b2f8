import { describe, expect, it } from "vitest";
import { type GuardedConnection, MemoryGuard } from "../../servers/core/service/memory-guard.ts";

const mebibyte = 1 << 20;

class FakeConnection implements GuardedConnection {
  readonly key: string;
  readonly used: number;
  readonly isCalm: boolean;
  isHeld = false;
  unansweredBytes = 0;
  why = "";
  looks = 0;

  constructor(key: string, used: number, isCalm = false) {
    this.key = key;
    this.used = used;
    this.isCalm = isCalm;
  }

  look(): void {
    this.looks++;
  }

  holdReading(isHeld: boolean): void {
    this.isHeld = isHeld;
  }

  end(why: string): void {
    this.why = why;
  }
}

/** A process with a bound of 1,000 MiB. */
function guarded(connections: FakeConnection[]) {
  const state = { inUse: 0, garbage: 0, nowMs: 0, collections: [] as string[], lines: [] as string[] };
  const guard = new MemoryGuard({
    mostBytes: 1_000 * mebibyte,
    setting: "HTTP_PROCESS_MEMORY_BYTES",
    connections: () => connections,
    log: { warning: (text) => state.lines.push(text) },
    memory: {
      bytes: () => (state.inUse + state.garbage) * mebibyte,
      collect(what) {
        state.collections.push(what);
        if (what === "major") state.garbage = 0;
      },
    },
    now: () => state.nowMs,
  });
  const look = (afterMs = 1_000) => {
    state.nowMs += afterMs;
    guard.look();
  };
  return { state, look, guard, ended: () => connections.filter(({ why }) => why !== "") };
}

describe("memory guard", () => {
  it("[BL-436] above three quarters connections that are not calm wait until V8 has collected", () => {
    const [busy, calm] = [new FakeConnection("10.0.0.7", 50), new FakeConnection("10.0.0.7", 50, true)];
    const { state, look } = guarded([busy, calm]);
    state.garbage = 749;
    look();
    expect(state.collections).toEqual([]);
    state.garbage = 751;
    look();
    expect([state.collections, busy.isHeld, state.garbage]).toEqual([["minor", "major"], false, 0]);
    // A collection takes others' time: the next one is due later, and near the bound those with much wait for it.
    state.garbage = 900;
    look(25);
    expect([state.collections.length, busy.isHeld]).toEqual([3, false]);
    state.garbage = 950;
    look(25);
    expect([state.collections.length, busy.isHeld, calm.isHeld]).toEqual([4, true, false]);
    look(50);
    expect([busy.isHeld, state.garbage]).toEqual([false, 0]);
    expect([busy.why, state.lines]).toEqual(["", []]);
  });

  it("[BL-436] what is in use below the bound holds nobody for long, and is not collected again and again", () => {
    const busy = new FakeConnection("10.0.0.7", 50);
    const { state, look } = guarded([busy]);
    state.inUse = 800;
    for (let count = 0; count < 100; count++) look();
    expect([state.collections, busy.isHeld, busy.why]).toEqual([["minor", "major"], false, ""]);
    state.inUse = 930;
    for (let count = 0; count < 100; count++) look();
    expect(state.collections.length).toBe(4);
    state.inUse = 100;
    look();
    state.inUse = 760;
    look();
    expect(state.collections.length).toBe(6);
  });

  it("[BL-437] above the bound those are ended that used most, of the address that used most, a part at a time", () => {
    const many = Array.from({ length: 64 }, (_, number) => new FakeConnection("10.0.0.7", number));
    const [honest, calm] = [new FakeConnection("10.0.0.8", 1_000), new FakeConnection("10.0.0.7", 9_999, true)];
    const { state, look, ended } = guarded([...many, honest, calm]);
    state.inUse = 1_010;
    look();
    expect(ended()).toEqual(many.slice(59));
    expect(many[63]?.why).toContain("HTTP_PROCESS_MEMORY_BYTES");
    expect(state.lines).toEqual([
      "The process has 1,010 MiB in use, of at most 1,000 MiB (HTTP_PROCESS_MEMORY_BYTES): connections that use most are ended, first those of 10.0.0.7. Raise the limit if they are wanted.",
    ]);
    expect([many[0]?.isHeld, honest.isHeld, calm.isHeld]).toEqual([true, true, false]);
    state.inUse = 980;
    look();
    expect(ended()).toEqual(many.slice(55));
    state.inUse = 500;
    look();
    expect([ended().length, many[0]?.isHeld, honest.isHeld]).toEqual([9, false, false]);
    expect(state.lines[1]).toBe("9 connections were ended for the memory of the process, which is at 500 MiB.");
  });

  it("[BL-437] where only calm connections are left, those are ended that have sent much without an answer", () => {
    const small = new FakeConnection("10.0.0.7", 10, true);
    const [large, larger, ofOther] = [
      new FakeConnection("10.0.0.7", 0, true),
      new FakeConnection("10.0.0.7", 0, true),
      new FakeConnection("10.0.0.8", 0, true),
    ];
    for (const [connection, mebibytes] of [
      [small, 3],
      [large, 100],
      [larger, 300],
      [ofOther, 350],
    ] as const)
      connection.unansweredBytes = mebibytes * mebibyte;
    const { state, look, ended } = guarded([small, large, larger, ofOther]);
    state.inUse = 1_010;
    for (const expected of [[larger], [larger, ofOther], [large, larger, ofOther], [large, larger, ofOther]]) {
      look();
      expect(ended()).toEqual(expected);
    }
    expect(small.isHeld).toBe(false);
    // They are closed in their turns.
    state.inUse = 100;
    look();
    expect(state.lines.length).toBe(2);
  });

  it("[BL-437] where only small calm connections are left, they are kept and read", () => {
    const calm = new FakeConnection("10.0.0.7", 10, true);
    const { state, look } = guarded([calm]);
    state.inUse = 1_200;
    for (let count = 0; count < 20; count++) look();
    expect([calm.why, calm.isHeld, state.lines, state.collections.length]).toEqual(["", false, [], 2]);
  });

  it("[BL-436] looks the sooner, the nearer memory is to the mark, and looks at no connections while it is far", () => {
    const idle = new FakeConnection("10.0.0.7", 0);
    const { state, look } = guarded([idle]);
    state.inUse = 300;
    look();
    expect(idle.looks).toBe(0);
    state.inUse = 400;
    look();
    expect(idle.looks).toBe(1);
  });
});
