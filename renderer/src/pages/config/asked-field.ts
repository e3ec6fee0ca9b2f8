import type { ServiceId } from "../../../../contract/service.ts";
import { createFrameStore } from "../../control/frame-store.ts";

interface AskedField {
  readonly id: ServiceId;
  readonly name: string;
}

/** A field that the palette was asked for; the Config tab shows it, then forgets it. */
export const askedField = createFrameStore<AskedField | undefined>(undefined, (run) => run());

export const fieldInputId = (name: string): string => `config-${name}`;
