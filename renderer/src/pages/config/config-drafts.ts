import type { ServiceId } from "../../../../contract/service.ts";
import { createKeyedStore } from "../../control/frame-store.ts";
import type { Draft } from "./draft.ts";

export type Drafts = Readonly<Record<string, Draft>>;

const noDrafts: Drafts = {};

/** What was typed and not saved outlives the tab, for as long as the window is open; secrets among it are stored nowhere. */
const storeOf = createKeyedStore<string, Drafts>(
  () => noDrafts,
  (run) => run(),
);

/** By profile as well: a draft is a change to the values of the profile that it was typed for. */
export const configDrafts = (id: ServiceId, profile: string | undefined) => storeOf(`${id} ${profile ?? ""}`);
