import { formatDecimals } from "../../ui/texts/quantity.ts";

export interface FaultWords {
  /** In the dialog, and on the button that starts it. */
  readonly title: string;
  /** What it does, as sentences. */
  readonly text: string;
}

export const percentText = (percent: number): string => `${formatDecimals(percent, 0, 1)} %`;

export const faultTimeText = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${formatDecimals(ms / 1_000, 0, 3)} s`);
