import { atOnce, createFrameStore, type ReadableStore } from "../../control/frame-store.ts";
import { askBeforeUnload } from "../ask-before-unload.ts";

export interface UnsavedDrafts<Draft> extends ReadableStore<ReadonlyMap<string, Draft>> {
  /** Undefined for what is saved or discarded. */
  keep(key: string, draft: Draft | undefined): void;
}

/** What was typed and is not saved, each by a key. It is outside the page, which has no effects while it is hidden: the browser asks then too. */
export function createUnsavedDrafts<Draft>(): UnsavedDrafts<Draft> {
  const store = createFrameStore<ReadonlyMap<string, Draft>>(new Map(), atOnce);
  askBeforeUnload(() => store.latest().size > 0);
  return {
    get: store.get,
    subscribe: store.subscribe,
    keep(key, draft) {
      const others = [...store.latest()].filter(([other]) => other !== key);
      store.set(new Map(draft === undefined ? others : [...others, [key, draft]]));
    },
  };
}

/** What another window, or an edit of the file, did to a rule of which changes are not saved. */
export const ruleMeanwhile = {
  removed: "The rule was removed meanwhile. Save adds it again, Discard leaves it removed.",
  changed: "The rule was changed meanwhile. Save replaces that, Discard keeps it.",
};
