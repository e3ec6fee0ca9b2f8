/** Rows of several services on one clock. */
import type { TrafficPage } from "../../../contract/control.ts";
import { serviceIds } from "../../../contract/service.ts";
import type { RowPlace } from "./traffic-rows.ts";

const idsPerService = 2 ** 44;

/** One number for a row of any service. */
export const joinedId = ({ service, id }: Pick<RowPlace, "service" | "id">): number => serviceIds.indexOf(service) * idsPerService + id;

/** By the time at which each began; the order of rows of one moment is always the same. */
export const byTime = (one: RowPlace, other: RowPlace): number => one.at - other.at || joinedId(one) - joinedId(other);

/** The newest rows of several services as one page. */
export function joinPages(pages: readonly TrafficPage[]): TrafficPage {
  const sum = (of: (page: TrafficPage) => number) => pages.reduce((all, page) => all + of(page), 0);
  return {
    rows: pages.flatMap((page) => page.rows).sort((one, other) => byTime(other, one)),
    matching: sum((page) => page.matching),
    kept: sum((page) => page.kept),
    total: sum((page) => page.total),
    dropped: sum((page) => page.dropped),
  };
}
