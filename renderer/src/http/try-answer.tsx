import { Button, Loader } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { formatTook } from "../format/duration.ts";
import { formatBytes } from "../format/quantity.ts";
import { goTo, servicePage } from "../frame/route.ts";
import { headerValue } from "../inspector/body-content.ts";
import { BodyView } from "../inspector/body-view.tsx";
import { HeaderListView } from "../inspector/header-list.tsx";
import { toneOfStatus } from "../inspector/tone-of.ts";
import { ToneMark } from "../table/tone-mark.tsx";
import styles from "./http-try.module.css";
import type { TryState } from "./http-try.tsx";
import { askForRow } from "./shown-row.ts";

export function TryAnswerView({ state, running }: { readonly state: TryState; readonly running: boolean }) {
  return (
    <section className={styles.answer} aria-label="Answer" aria-busy={state.state === "sending"}>
      {answer(state, running)}
    </section>
  );
}

function answer(state: TryState, running: boolean) {
  switch (state.state) {
    case "untried":
      return (
        <p className={styles.note}>
          {running
            ? "The answer appears here: status, headers, body and time. The request is seen in Live as well."
            : "Start the service to send it a request."}
        </p>
      );
    case "sending":
      return (
        <p className={styles.note}>
          <Loader size={12} mr={8} /> Waiting for the answer…
        </p>
      );
    case "failed":
      return (
        <div className={styles.failure} role="alert">
          <b>{state.failure.message}</b> {state.failure.hint}
        </div>
      );
    case "answered":
      return <Answered state={state} />;
    default:
      return state satisfies never;
  }
}

function Answered({ state: { request, answer } }: { readonly state: Extract<TryState, { state: "answered" }> }) {
  const { row } = answer;
  return (
    <>
      <div className={styles.answerHead}>
        <h2 className={styles.status}>
          <ToneMark tone={toneOfStatus(answer.status)} word={`${answer.status} ${answer.reason}`} />
        </h2>
        <span className={styles.facts}>
          {[
            formatTook(answer.tookMs),
            formatBytes(answer.body.bytes),
            `HTTP/${answer.httpVersion}`,
            answer.truncated && "cut: it was too long, or did not end in time",
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        {row !== undefined && (
          <Button
            rightSection={<IconArrowUpRight size={14} stroke={1.5} />}
            onClick={() => {
              askForRow(row);
              goTo(servicePage("http", "live"));
            }}
          >
            Show in Live
          </Button>
        )}
      </div>
      <HeaderListView headers={answer.headers} />
      <div className={styles.answerBody}>
        <BodyView
          of="answer"
          body={answer.body}
          contentType={headerValue(answer.headers, "content-type")}
          contentEncoding={headerValue(answer.headers, "content-encoding")}
          emptyText={request.method === "HEAD" ? "HEAD is answered without a body." : "The answer has no body."}
        />
      </div>
    </>
  );
}
