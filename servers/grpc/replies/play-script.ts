import type { GrpcCall } from "../engine/grpc-call.ts";
import type { ScriptedStatus, ScriptStep } from "./compile-rule.ts";
import type { Releases } from "./releases.ts";
import type { TemplateScope } from "./template.ts";

/** Steps without a pause, before other calls have a turn. */
const mostAtOnce = 64;
const longestTurnMs = 2;

/** The waits of one call's scripts. Each resolves with false if nothing more can be sent. */
export class CallWaits {
  readonly #call: GrpcCall;
  readonly #releases: Releases;
  readonly #ends = new Set<() => void>();

  constructor(call: GrpcCall, releases: Releases) {
    this.#call = call;
    this.#releases = releases;
    call.whenOver(() => {
      for (const end of [...this.#ends]) end();
    });
  }

  pause(ms: number): Promise<boolean> {
    return this.#wait((go) => {
      const timer = setTimeout(go, ms);
      return () => clearTimeout(timer);
    });
  }

  released(name: string): Promise<boolean> {
    const { entry, head } = this.#call;
    return this.#wait((go) => this.#releases.wait(name, { row: entry.id, path: head.path }, go));
  }

  writable(): Promise<boolean> {
    return this.#wait((go) => {
      this.#call.whenWritable(go);
      return () => {};
    });
  }

  /** Lets other calls have a turn. */
  turn(): Promise<boolean> {
    return this.#wait((go) => {
      const turn = setImmediate(go);
      return () => clearImmediate(turn);
    });
  }

  #wait(begin: (go: () => void) => () => void): Promise<boolean> {
    if (this.#call.isEnding) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = () => {
        this.#ends.delete(done);
        cancel();
        resolve(!this.#call.isEnding);
      };
      this.#ends.add(done);
      const cancel = begin(done);
    });
  }
}

export interface ScriptOptions {
  readonly call: GrpcCall;
  readonly waits: CallWaits;
  readonly releases: Releases;
  readonly steps: readonly ScriptStep[];
  readonly scope: TemplateScope;
  readonly onSent: () => void;
  readonly end: (status: ScriptedStatus) => void;
}

/** Runs the steps, as fast as the client reads. Resolves with false if the call has ended. */
export async function playScript({ call, waits, releases, steps, scope, onSent, end }: ScriptOptions): Promise<boolean> {
  let sinceTurn = 0;
  let turnBegan = performance.now();

  const rest = async (wait: Promise<boolean>): Promise<boolean> => {
    const goesOn = await wait;
    sinceTurn = 0;
    turnBegan = performance.now();
    return goesOn;
  };

  async function step(one: ScriptStep): Promise<boolean> {
    switch (one.kind) {
      case "message":
        call.send(one.message(scope));
        onSent();
        return call.isWritable || rest(waits.writable());
      case "pause":
        call.sendHeaders();
        return rest(waits.pause(one.ms));
      case "waitFor":
        call.sendHeaders();
        return rest(waits.released(one.name));
      case "release":
        releases.release(one.name);
        return true;
      case "repeat":
        for (let round = 0; round < one.times && one.steps.length > 0; round++) if (!(await play(one.steps))) return false;
        return true;
      case "status":
        end(one.status(scope));
        return false;
      default:
        return one satisfies never;
    }
  }

  async function play(all: readonly ScriptStep[]): Promise<boolean> {
    for (const one of all) {
      if (call.isEnding) return false;
      sinceTurn++;
      if ((sinceTurn >= mostAtOnce || performance.now() - turnBegan > longestTurnMs) && !(await rest(waits.turn()))) return false;
      if (!(await step(one))) return false;
    }
    return !call.isEnding;
  }

  return play(steps);
}
