import { Button, Loader, Menu, SegmentedControl, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconArrowUpRight, IconChevronDown, IconSend } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import { eventsActions } from "../../../contract/events.ts";
import type { TryAnswer } from "../../../contract/http.ts";
import type { Failure } from "../../../contract/service.ts";
import { StatusShape } from "../components/status-shape.tsx";
import { useRemembered } from "../components/use-remembered.ts";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { useService } from "../control/use-services.ts";
import { formatTook } from "../format/duration.ts";
import { formatBytes } from "../format/quantity.ts";
import { goTo, servicePage } from "../frame/route.ts";
import { HeaderEditor } from "../http/header-editor.tsx";
import styles from "../http/http-try.module.css";
import { TryCommands } from "../http/try-commands.tsx";
import { checkJson, sentRequest, type TryRequest } from "../http/try-request.ts";
import { headerValue } from "../inspector/body-content.ts";
import { BodyView } from "../inspector/body-view.tsx";
import { HeaderListView } from "../inspector/header-list.tsx";
import { toneOfStatus } from "../inspector/tone-of.ts";
import { ToneMark } from "../table/tone-mark.tsx";
import { eventsOrigin } from "./events-origin.ts";
import own from "./events-try.module.css";
import { exampleNames, exampleText } from "./example-events.ts";
import { firstTries, type TryKind, tryKinds, tryTitles } from "./try-kinds.ts";

type TryState =
  | { readonly state: "untried" }
  | { readonly state: "sending" }
  | { readonly state: "answered"; readonly answer: TryAnswer }
  | { readonly state: "failed"; readonly failure: Failure };

/** A real request to the service, its answer, and the same request as a command. */
export function EventsTry() {
  const client = useControl();
  const service = useService("events");
  const [kind, setKind] = useRemembered<TryKind>("try.events.kind", "post");
  const [requests, setRequests] = useRemembered<Readonly<Record<TryKind, TryRequest>>>("try.events", firstTries);
  const [state, setState] = useState<TryState>({ state: "untried" });
  const running = service?.status.state === "running";
  const request = requests[kind];
  const set = (part: Partial<TryRequest>) => setRequests({ ...requests, [kind]: { ...request, ...part } });

  const send = async () => {
    if (!running || state.state === "sending") return;
    setState({ state: "sending" });
    try {
      setState({ state: "answered", answer: await client.action(eventsActions, "events", "try", sentRequest(request)) });
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  return (
    <section className={styles.try} aria-label="Try a request">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields. */}
      <div className={styles.question} onKeyDown={onKeyDown}>
        <div className={own.kinds}>
          <SegmentedControl
            aria-label="Request"
            data={tryKinds.map((value) => ({ value, label: tryTitles[value] }))}
            value={kind}
            onChange={(value) => setKind(value as TryKind)}
          />
        </div>
        <div className={own.line}>
          <TextInput
            className={styles.target}
            aria-label="Path and query"
            value={request.target}
            spellCheck={false}
            leftSection={<span className={own.method}>{request.method}</span>}
            leftSectionWidth={52}
            onChange={(event) => set({ target: event.currentTarget.value })}
          />
          <Tooltip label={running ? "Send (Ctrl Enter)" : "Start the service first"}>
            <Button
              variant="filled"
              w={86}
              loading={state.state === "sending"}
              data-disabled={!running}
              aria-disabled={!running}
              onClick={() => void send()}
              leftSection={<IconSend size={14} stroke={1.5} />}
            >
              Send
            </Button>
          </Tooltip>
        </div>
        {kind === "post" && <EventEditor request={request} onBody={(body) => set({ body })} />}
        <HeaderEditor headers={request.headers} onChange={(headers) => set({ headers })} />
        <TryCommands request={request} origin={eventsOrigin(service)} />
      </div>
      <section className={styles.answer} aria-label="Answer" aria-busy={state.state === "sending"}>
        <Answer state={state} running={running} />
      </section>
    </section>
  );
}

function EventEditor({ request, onBody }: { readonly request: TryRequest; readonly onBody: (body: string) => void }) {
  const check = checkJson(request);
  return (
    <section className={styles.section} aria-label="Event to send">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>Event</h2>
        <span className={styles.check} aria-live="polite">
          {check.state === "valid" && (
            <>
              <StatusShape shape="running" /> JSON
            </>
          )}
          {check.state === "invalid" && (
            <span className={styles.problem}>
              <StatusShape shape="failed" /> {check.problem}
            </span>
          )}
        </span>
        {check.state === "valid" && (
          <Button size="compact-xs" variant="subtle" onClick={() => onBody(JSON.stringify(JSON.parse(request.body), null, 2))}>
            Format
          </Button>
        )}
        <Menu position="bottom-end" withinPortal={false}>
          <Menu.Target>
            <Button size="compact-xs" rightSection={<IconChevronDown size={12} />}>
              Examples
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {exampleNames.map((name) => (
              <Menu.Item key={name} onClick={() => onBody(exampleText(name))}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
      <Textarea
        aria-label="Event to send"
        className={styles.bodyInput}
        value={request.body}
        autosize
        minRows={6}
        maxRows={16}
        spellCheck={false}
        error={check.state === "invalid"}
        onChange={(event) => onBody(event.currentTarget.value)}
      />
    </section>
  );
}

function Answer({ state, running }: { readonly state: TryState; readonly running: boolean }) {
  switch (state.state) {
    case "untried":
      return (
        <p className={styles.note}>
          {running
            ? "The answer appears here: status, headers, body and time. A stored event is seen in Live within a second."
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
      return <Answered answer={state.answer} />;
    default:
      return state satisfies never;
  }
}

function Answered({ answer }: { readonly answer: TryAnswer }) {
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
            answer.truncated && "cut: it was too long",
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        {answer.status === 201 && (
          <Button rightSection={<IconArrowUpRight size={14} stroke={1.5} />} onClick={() => goTo(servicePage("events", "live"))}>
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
          emptyText="The answer has no body."
        />
      </div>
    </>
  );
}
