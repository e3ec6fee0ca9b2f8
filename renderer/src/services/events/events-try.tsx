import { Button, Menu, SegmentedControl, TextInput } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { z } from "zod";
import { eventsActions } from "../../../../contract/services/events.ts";
import type { TryAnswer } from "../../../../contract/services/http.ts";
import { goTo, servicePage } from "../../app/route.ts";
import { useControl } from "../../control/client-context.tsx";
import { failureOf } from "../../control/failure-error.ts";
import { useService } from "../../control/use-store.ts";
import { useHandover } from "../../pages/service/handover.ts";
import { originOf } from "../../ui/texts/address.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { AnswerPane, type TryState } from "../try/answer-pane.tsx";
import { HeaderEditor } from "../try/header-editor.tsx";
import { HttpAnswer } from "../try/http-answer.tsx";
import { JsonBodyField } from "../try/json-body-field.tsx";
import { TryCommands } from "../try/same-as.tsx";
import { SendButton } from "../try/send-button.tsx";
import { TryPage } from "../try/try-page.tsx";
import { checkJson, sentRequest, type TryRequest } from "../try/try-request.ts";
import { TrySection } from "../try/try-section.tsx";
import own from "./events-try.module.css";
import { exampleNames, exampleText } from "./example-events.ts";
import { firstTries, recordedTries, type TryKind, triesSchema, triesWithoutCredentials, tryKinds, tryTitles } from "./try-kinds.ts";

/** A real request to the service, its answer, and the same request as a command. */
export function EventsTry() {
  const client = useControl();
  const service = useService("events");
  const [kind, setKind] = useRemembered<TryKind>("try.events.kind", "post", z.enum(tryKinds));
  const [requests, setRequests] = useRemembered("try.events", firstTries, triesSchema, { keeps: triesWithoutCredentials });
  const [state, setState] = useState<TryState<TryAnswer>>({ state: "untried" });
  const running = service?.status.state === "running";
  const request = requests[kind];
  const set = (part: Partial<TryRequest>) => setRequests({ ...requests, [kind]: { ...request, ...part } });

  useHandover(recordedTries, "events", (taken) => {
    setKind(taken.kind);
    setRequests({ ...requests, [taken.kind]: taken.request });
    setState({ state: "untried" });
  });

  const send = async () => {
    if (!running || state.state === "sending") return;
    setState({ state: "sending" });
    try {
      setState({ state: "answered", answer: await client.action(eventsActions, "events", "try", sentRequest(request)) });
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
    }
  };
  return (
    <TryPage
      label="Try a request"
      onSend={() => void send()}
      question={
        <>
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
              className={own.target}
              aria-label="Path and query"
              value={request.target}
              spellCheck={false}
              leftSection={<span className={own.method}>{request.method}</span>}
              leftSectionWidth={52}
              onChange={(event) => set({ target: event.currentTarget.value })}
            />
            <SendButton running={running} sending={state.state === "sending"} onSend={() => void send()} />
          </div>
          {kind === "post" && <EventEditor request={request} onBody={(body) => set({ body })} />}
          <HeaderEditor headers={request.headers} onChange={(headers) => set({ headers })} />
          <TryCommands request={request} origin={originOf(service)} />
        </>
      }
    >
      <AnswerPane
        label="Answer"
        state={state}
        running={running}
        untried="The answer appears here: status, headers, body and time. A stored event appears in Live within a second."
        stopped="Start the service to send it a request."
      >
        {(answer) => (
          <HttpAnswer
            answer={answer}
            route={`${request.method} ${request.target}`}
            emptyText="The answer has no body."
            onShowInLive={answer.status === 201 ? () => goTo(servicePage("events", "live")) : undefined}
          />
        )}
      </AnswerPane>
    </TryPage>
  );
}

function EventEditor({ request, onBody }: { readonly request: TryRequest; readonly onBody: (body: string) => void }) {
  return (
    <TrySection label="Event to send">
      <JsonBodyField
        title="Event"
        label="Event to send"
        value={request.body}
        check={checkJson(request)}
        rows={{ least: 6, most: 16 }}
        onChange={onBody}
      >
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
      </JsonBodyField>
    </TrySection>
  );
}
