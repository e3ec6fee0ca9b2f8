import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { parameterSetsOf } from "../media/parameter-sets.ts";
import type { RtspTarget } from "../protocol/header-fields.ts";
import type { DescribedTrack } from "../protocol/media-description.ts";

export interface Announced {
  readonly target: RtspTarget;
  readonly user: string | undefined;
  readonly tracks: readonly DescribedTrack[];
}

/** The text of a parameter set and its bytes are both kept. */
const keptOfDescription = 2;
/** What a track, its parameters and its parameter sets count beside their bytes. */
const trackBytes = 1_000;
const parameterBytes = 150;
const setBytes = 250;

function objectBytes({ track, parameters }: DescribedTrack): number {
  const sets = track.kind === "video" ? parameterSetsOf(track).length : 0;
  return trackBytes + parameterBytes * Object.keys(parameters).length + setBytes * sets;
}

/** What a publisher has described: of its connection until it is set up, then of its session. It counts in the memory of all streams. */
export class Announcement {
  readonly announced: Announced;
  readonly #share: BudgetShare;
  #lose: () => void;

  /** `lose` ends whose it is: beyond the bound of all it has most. */
  constructor(announced: Announced, descriptionBytes: number, budget: SharedBudget, address: string, lose: () => void) {
    this.announced = announced;
    this.#lose = lose;
    this.#share = budget.open(address, () => {
      this.release();
      this.#lose();
    });
    this.#share.set(keptOfDescription * descriptionBytes + announced.tracks.reduce((sum, track) => sum + objectBytes(track), 0));
  }

  passTo(lose: () => void): void {
    this.#lose = lose;
  }

  release(): void {
    this.#share.set(0);
    this.#share.close();
  }
}
