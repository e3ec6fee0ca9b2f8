import { UnstyledButton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useId } from "react";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import type { ReplyProblem } from "../../../../../contract/services/grpc-replies.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formProblem } from "./form-problem.ts";
import styles from "./replies.module.css";

const checkedAfterMs = 250;
const mostShown = 5;
const none: readonly ReplyProblem[] = [];

/** What is wrong with a text while it is typed, by its lines; those of the text before until it has been checked. */
export function useReplyProblems(of: "file" | "rule", text: string): readonly ReplyProblem[] {
  const client = useControl();
  const own = useId();
  const [settled] = useDebouncedValue(text, checkedAfterMs);
  const answer = useAnswer({
    key: ["grpc", "replies", "check", own],
    ask: () => client.action(grpcActions, "grpc", "replies.check", { of, text: settled }),
    version: settled,
  });
  return answer.value?.problems ?? none;
}

interface ReplyProblemsProps {
  readonly problems: readonly ReplyProblem[];
  /** Between parts that reach the edges. */
  readonly isInset?: boolean;
  /** Whose lines they are; of the form of a rule they are told without. */
  readonly of: "file" | "rule" | "form";
  readonly onLine: (line: number) => void;
}

/** A click on one goes to its line. Nothing is shown where there are none. */
export function ReplyProblems({ problems, isInset = false, of, onLine }: ReplyProblemsProps) {
  if (problems.length === 0) return null;
  return (
    <ul className={styles.problems} data-inset={isInset || undefined} aria-label="Problems" aria-live="polite">
      {problems.slice(0, mostShown).map(({ line, column, message }) => (
        <li key={`${line}:${column} ${message}`}>
          <UnstyledButton title={of === "form" ? "Show it in the JSON" : undefined} onClick={() => onLine(line)}>
            <Problem of={of} line={line} column={column} message={message} />
          </UnstyledButton>
        </li>
      ))}
      {problems.length > mostShown && <li>{formatCountOf(problems.length - mostShown, "more problem")}</li>}
    </ul>
  );
}

function Problem({ of, line, column, message }: ReplyProblem & Pick<ReplyProblemsProps, "of">) {
  const inForm = of === "form" ? formProblem(message) : undefined;
  const place = inForm?.place ?? `Line ${line} of the ${of === "file" ? of : "rule as JSON"}, column ${column}`;
  return (
    <>
      <b>{shownText(place)}</b> {shownText(inForm?.needed ?? message)}
    </>
  );
}

/** Selects a line of a text and scrolls to it. */
export function goToLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, (area.scrollHeight / lines.length) * (line - 3));
}
