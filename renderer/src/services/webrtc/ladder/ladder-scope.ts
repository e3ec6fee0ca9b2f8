import { createHandover } from "../../../pages/service/handover.ts";

/** What the ladder shows: a room, one peer, or what two peers sent to one another. */
export interface LadderScope {
  /** Empty for all. */
  readonly room: string;
  /** At most two. */
  readonly peers: readonly string[];
}

export const noLadderScope: LadderScope = { room: "", peers: [] };

/** What another tab shows in the ladder. */
export const requestedLadders = createHandover<LadderScope>();
