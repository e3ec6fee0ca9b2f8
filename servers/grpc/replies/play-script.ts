import type { GrpcCall } from "../engine/grpc-call.ts";
import type { ScriptedStatus, ScriptStep } from "./compile-rule.ts";
import type { Releases } from "./releases.ts";
import type { TemplateScope } from "./template.ts";

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
    return this.#wait((go) => this.#call.work.wait(ms, go));
  }

  released(name: string): Promise<boolean> {
    const { entry, head } = this.#call;
    // What a call goes on with is done before the next one.
    return this.#wait((go) => this.#releases.wait(name, { row: entry.id, path: head.path }, () => this.#call.work.join(go).later()));
  }

  writable(): Promise<boolean> {
    return this.#wait((go) => {
      this.#call.whenWritable(go);
      return () => {};
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

/** Runs the steps in the turns of all clients, as fast as this one reads. Resolves with false if the call has ended. */
export function playScript(options: ScriptOptions): Promise<boolean> {
  const { call } = options;
  const steps = play(options, options.steps);
  return new Promise((resolve, reject) => {
    const share = call.work.join(goOn);
    function goOn(): void {
      try {
        while (!call.isEnding) {
          if (share.isOver) {
            share.later();
            return;
          }
          const { done, value } = steps.next();
          if (done) {
            resolve(value);
            return;
          }
          if (value) {
            void value.then(goOn);
            return;
          }
        }
        resolve(false);
      } catch (error) {
        reject(error);
      }
    }
    goOn();
  });
}

/** Stops before each step, and with what a step waits for. */
function* play(options: ScriptOptions, steps: readonly ScriptStep[]): Generator<Promise<unknown> | undefined, boolean> {
  const { call, waits, releases, scope, onSent, end } = options;
  for (const one of steps) {
    yield;
    switch (one.kind) {
      case "message":
        call.send(one.message(scope));
        onSent();
        if (!call.isWritable) yield waits.writable();
        break;
      case "pause":
        call.sendHeaders();
        yield waits.pause(one.ms);
        break;
      case "waitFor":
        call.sendHeaders();
        yield waits.released(one.name);
        break;
      case "release":
        releases.release(one.name);
        break;
      case "repeat":
        for (let round = 0; round < one.times && one.steps.length > 0; round++) if (!(yield* play(options, one.steps))) return false;
        break;
      case "status":
        end(one.status(scope));
        return false;
      default:
        one satisfies never;
    }
  }
  return !call.isEnding;
}
