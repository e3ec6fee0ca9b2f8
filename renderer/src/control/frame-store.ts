/** Longest wait for an animation frame: a hidden page gets none, and its topics still have to be acknowledged. */
const hiddenFrameMs = 250;

export type NextFrame = (run: () => void) => void;

/** Does not wait for a frame. */
export const atOnce: NextFrame = (run) => run();

/** Runs once in the next animation frame, or after a short time if there is none. */
export const nextFrame: NextFrame = (run) => {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, hiddenFrameMs);
};

/** Part of the time that is left for everything else: input, states of services, other pages of the computer. */
const restFactor = 2;
/** Rows are shown at least five times a second. */
const mostRestMs = 200;

interface PacedFrameOptions {
  readonly nextFrame: NextFrame;
  /** Runs after the current frame was painted. */
  readonly afterPaint: (run: () => void) => void;
  readonly now: () => number;
}

/**
 * Like `nextFrame`, for what changes with the traffic: after a frame it rests for twice the time that this took. Under load a row is
 * seen for an instant only, and rendering each batch would leave no time for clicks.
 */
export function createPacedFrame({ nextFrame, afterPaint, now }: PacedFrameOptions): NextFrame {
  let restsUntil = 0;
  return (run) => {
    const inFrame = () =>
      nextFrame(() => {
        const startedAt = now();
        run();
        afterPaint(() => {
          const paintedAt = now();
          restsUntil = Math.max(restsUntil, paintedAt + Math.min(mostRestMs, restFactor * (paintedAt - startedAt)));
        });
      });
    const restMs = restsUntil - now();
    if (restMs > 0) setTimeout(inFrame, restMs);
    else inFrame();
  };
}

/** For all lists together. */
export const pacedFrame = createPacedFrame({
  nextFrame,
  // A timer that is set within a frame runs after it.
  afterPaint: (run) => setTimeout(run, 0),
  now: () => performance.now(),
});

export interface ReadableStore<Value> {
  get(): Value;
  subscribe(listener: () => void): () => void;
}
export interface FrameStore<Value> extends ReadableStore<Value> {
  set(value: Value): void;
  /** The last value that was set, shown or not. */
  latest(): Value;
}

export interface GatheredStore<Value> extends ReadableStore<Value> {
  /** `read` may give another value now. */
  changed(): void;
}

/** A value that is read, and its listeners notified, at most once per frame, however often it changes. */
export function createGatheredStore<Value>(read: () => Value, nextFrame: NextFrame): GatheredStore<Value> {
  const listeners = new Set<() => void>();
  let shown = read();
  let scheduled = false;
  const flush = () => {
    scheduled = false;
    const latest = read();
    if (shown === latest) return;
    shown = latest;
    for (const listener of [...listeners]) listener();
  };
  return {
    get: () => shown,
    changed() {
      if (scheduled) return;
      scheduled = true;
      nextFrame(flush);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A value whose listeners are notified at most once per frame, however often it is set. */
export function createFrameStore<Value>(initial: Value, nextFrame: NextFrame): FrameStore<Value> {
  let latest = initial;
  const { get, subscribe, changed } = createGatheredStore(() => latest, nextFrame);
  return {
    ...{ get, subscribe },
    latest: () => latest,
    set(value) {
      latest = value;
      changed();
    },
  };
}

export interface KeyedStore<Key, Value> {
  (key: Key): FrameStore<Value>;
  /** Those that have been used. */
  all(): readonly FrameStore<Value>[];
}

/** One store per key, created on first use, so that a component is notified of its own key only. */
export function createKeyedStore<Key, Value>(initial: (key: Key) => Value, nextFrame: NextFrame): KeyedStore<Key, Value> {
  const stores = new Map<Key, FrameStore<Value>>();
  const storeOf = (key: Key) => {
    const known = stores.get(key);
    if (known) return known;
    const made = createFrameStore(initial(key), nextFrame);
    stores.set(key, made);
    return made;
  };
  return Object.assign(storeOf, { all: () => [...stores.values()] });
}
