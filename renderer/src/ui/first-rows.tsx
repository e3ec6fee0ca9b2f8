import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { formatCount, formatCountOf } from "./texts/quantity.ts";

const stepRows = 200;

interface FirstRows<Row> {
  readonly shown: readonly Row[];
  /** The button that shows more of them, if there are more. */
  readonly more: ReactNode;
}

/** The first rows of a list that is rendered as a whole and may be long, since a client made it. `item` names one of them: "field". */
export function useFirstRows<Row>(rows: readonly Row[], item: string): FirstRows<Row> {
  const [bound, setBound] = useState(stepRows);
  const left = rows.length - bound;
  if (left <= 0) return { shown: rows, more: undefined };
  return {
    shown: rows.slice(0, bound),
    more: (
      <Button size="compact-xs" variant="subtle" onClick={() => setBound(bound + stepRows)}>
        {`Show ${formatCount(Math.min(left, stepRows))} more of ${formatCountOf(rows.length, item)}`}
      </Button>
    ),
  };
}
