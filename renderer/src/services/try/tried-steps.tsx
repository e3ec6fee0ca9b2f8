import type { ReactNode } from "react";
import type { Column } from "../../list/columns/column.ts";
import { DataTable } from "../../list/data-table.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { AnswerNote } from "./answer-pane.tsx";
import styles from "./tried-steps.module.css";

interface TriedStep {
  /** Its number among the steps, from 0. */
  readonly place: number;
}

interface TriedStepsProps<Step extends TriedStep> {
  readonly steps: readonly Step[];
  readonly columns: readonly Column<Step>[];
  /** The content of the chosen step, if it has one. */
  readonly contentOf: (step: Step) => ReactNode;
}

/** Visible at once; the others are scrolled to. */
const mostRows = 16;
const placeOf = ({ place }: TriedStep) => place;

/** What happened, in its order, and the content of the chosen step. */
export function TriedSteps<Step extends TriedStep>({ steps, columns, contentOf }: TriedStepsProps<Step>) {
  const choice = useRowChoice(placeOf);
  const chosen = steps.find(({ place }) => place === choice.chosen);
  return (
    <>
      <div className={styles.steps} style={{ height: `calc(var(--bl-row) * ${Math.min(mostRows, Math.max(1, steps.length)) + 1})` }}>
        <DataTable
          {...choice.tableProps}
          onOpen={choice.choose}
          label="Steps, in their order"
          count={steps.length}
          rowAt={(index) => steps[index]}
          columns={columns}
          followsEnd={choice.chosen === undefined}
          empty={<AnswerNote>Connecting…</AnswerNote>}
        />
      </div>
      {chosen && contentOf(chosen)}
    </>
  );
}
