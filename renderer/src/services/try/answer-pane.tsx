import { Button, Loader } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Failure } from "../../../../contract/service.ts";
import { Caption, Notice } from "../../ui/panel.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import styles from "./answer-pane.module.css";

/** The result of the last try. */
export type TryState<Answer> =
  | { readonly state: "untried" }
  | { readonly state: "sending" }
  | { readonly state: "answered"; readonly answer: Answer }
  | { readonly state: "failed"; readonly failure: Failure };

interface AnswerPaneProps<Answer> {
  readonly label: string;
  readonly state: TryState<Answer>;
  readonly running: boolean;
  /** What will appear here, and what to do first if the service does not run. */
  readonly untried: string;
  readonly stopped: string;
  readonly children: (answer: Answer) => ReactNode;
}

/** The right half of a Try tab: the result of the last try. */
export function AnswerPane<Answer>(props: AnswerPaneProps<Answer>) {
  const { label, state } = props;
  return (
    <AnswerSection label={label} busy={state.state === "sending"}>
      <Boundary region={label} shows={state}>
        <Content {...props} />
      </Boundary>
    </AnswerSection>
  );
}

interface AnswerSectionProps {
  readonly label: string;
  readonly busy?: boolean;
  readonly children: ReactNode;
}

export const AnswerSection = ({ label, busy = false, children }: AnswerSectionProps) => (
  <section className={styles.answer} aria-label={label} aria-busy={busy}>
    {children}
  </section>
);

function Content<Answer>({ state, running, untried, stopped, children }: AnswerPaneProps<Answer>) {
  switch (state.state) {
    case "untried":
      return <AnswerNote>{running ? untried : stopped}</AnswerNote>;
    case "sending":
      return (
        <AnswerNote>
          <Loader size={12} mr={8} /> Waiting for the answer…
        </AnswerNote>
      );
    case "failed":
      return (
        <Notice tone="bad" role="alert">
          <b>{state.failure.message}</b> {state.failure.hint}
        </Notice>
      );
    case "answered":
      return children(state.answer);
    default:
      return state satisfies never;
  }
}

/** In place of an answer, or of its body. */
export function AnswerNote({ children }: { readonly children: ReactNode }) {
  return <p className={styles.note}>{children}</p>;
}

interface AnswerHeadProps {
  /** The status. */
  readonly mark: ReactNode;
  readonly facts: ReactNode;
  /** Absent if there is no row for it in Live. */
  readonly onShowInLive?: (() => void) | undefined;
  /** The title of another tab that shows it. */
  readonly shownIn?: string;
}

/** The first line of an answer. */
export function AnswerHead({ mark, facts, onShowInLive, shownIn = "Live" }: AnswerHeadProps) {
  return (
    <div className={styles.head}>
      <h2 aria-live="polite">{mark}</h2>
      <Caption grow>{facts}</Caption>
      {onShowInLive && (
        <Button rightSection={<IconArrowUpRight size={14} stroke={1.5} />} onClick={onShowInLive}>
          {`Show in ${shownIn}`}
        </Button>
      )}
    </div>
  );
}

/** The result in words. */
export function AnswerWords({ children }: { readonly children: string }) {
  return (
    <p className={styles.words} aria-live="polite">
      {children}
    </p>
  );
}
