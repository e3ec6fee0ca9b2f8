import { EventEmitter } from "node:events";

/** Names that Node and Playwright look for on any value. */
const probed = new Set(["then", "toJSON", "constructor"]);

/** The same object, but what it does not have throws: a test never passes because the double silently did nothing. */
export function strict<T extends object>(name: string, target: T): T {
  return new Proxy(target, {
    get(object, key, receiver) {
      if (typeof key === "symbol" || key in object || probed.has(key)) return Reflect.get(object, key, receiver);
      throw new Error(`The electron double does not cover ${name}.${key}`);
    },
  });
}

/** An emitter that refuses listeners for events it does not know. */
export class CoveredEmitter extends EventEmitter {
  readonly covered: ReadonlySet<string>;

  constructor(name: string, events: readonly string[]) {
    super();
    this.covered = new Set(events);
    this.on("newListener", (event) => {
      if (typeof event === "string" && !["newListener", "removeListener"].includes(event) && !this.covered.has(event)) {
        throw new Error(`The electron double does not cover the event "${event}" of ${name}`);
      }
    });
  }
}

/** Throws for options beyond `allowed`. */
export function coverOptions(name: string, options: object, allowed: readonly string[]): void {
  for (const key of Object.keys(options)) {
    if (!allowed.includes(key)) throw new Error(`The electron double does not cover the option ${name}.${key}`);
  }
}

export class CancellableEvent {
  defaultPrevented = false;
  preventDefault(): void {
    this.defaultPrevented = true;
  }
}
