import type { TrafficRow } from "../../../../contract/traffic/row.ts";

/** The row that another tab asked Live to open; taken once. */
let asked: Pick<TrafficRow, "id"> | undefined;

export function askForRow(id: number): void {
  asked = { id };
}

export function takeAskedRow(): number | undefined {
  const id = asked?.id;
  asked = undefined;
  return id;
}
