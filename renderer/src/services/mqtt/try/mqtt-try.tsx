import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttTryAnswer } from "../../../../../contract/services/mqtt-try.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { useService } from "../../../control/use-store.ts";
import { useHandover } from "../../../pages/service/handover.ts";
import { draftForm } from "../../../ui/forms/draft-form.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { TryState } from "../../try/answer-pane.tsx";
import { SendButton } from "../../try/send-button.tsx";
import { TryPage } from "../../try/try-page.tsx";
import { TryProblem, TrySection, TrySectionHead } from "../../try/try-section.tsx";
import { useMqttView } from "../broker/use-broker.ts";
import {
  draftWithoutCredentials,
  firstDraft,
  parsePublishDraft,
  publishDraftSchema,
  recordedMessages,
  usesVersion5,
} from "../publish/publish-draft.ts";
import { PublishForm } from "../publish/publish-form.tsx";
import own from "./mqtt-try.module.css";
import { firstSubscription, subscribeDraftSchema } from "./subscribe-draft.ts";
import { clientWithoutCredentials, firstTryClient, parseTryClient, tryClientSchema } from "./try-client-draft.ts";
import { TryClientSection } from "./try-client-section.tsx";
import { TryCommands } from "./try-commands.tsx";
import { TryReceived } from "./try-received.tsx";
import { Answer, TrySubscribe } from "./try-subscribe.tsx";

/** A client for trying the broker: publishes, subscribes, shows the broker's answers and messages, and gives the same as commands. */
export function MqttTry() {
  const client = useControl();
  const service = useService("mqtt");
  const act = useMqttView("try");
  const running = service?.status.state === "running";
  const [who, setWho] = useRemembered("mqtt.try-client", firstTryClient, tryClientSchema, { keeps: clientWithoutCredentials });
  const [password, setPassword] = useState("");
  const [draft, setDraft] = useRemembered("mqtt.draft", firstDraft, publishDraftSchema, { keeps: draftWithoutCredentials });
  const [subscription, setSubscription] = useRemembered("mqtt.try-subscription", firstSubscription, subscribeDraftSchema);
  const [state, setState] = useState<TryState<MqttTryAnswer>>({ state: "untried" });
  useHandover(recordedMessages, "mqtt", (message) => {
    setDraft(message);
    setState({ state: "untried" });
  });
  const parsedClient = parseTryClient(who, password);
  const parsed = parsePublishDraft(draft);

  /** Undefined if it is connected, otherwise the broker's answer. */
  const connect = async (): Promise<MqttTryAnswer | undefined> => {
    if (!("options" in parsedClient)) return { ok: false, meaning: parsedClient.problem, tookMs: 0 };
    const answer = await client.action(mqttActions, "mqtt", "try.connect", parsedClient.options);
    return answer.ok ? undefined : answer;
  };
  const whenConnected = async (ask: () => Promise<MqttTryAnswer>): Promise<MqttTryAnswer> => {
    const refusal = act?.state === "connected" ? undefined : await connect();
    return refusal ?? ask();
  };
  const publish = async () => {
    if (!running || !("params" in parsed) || state.state === "sending") return;
    setState({ state: "sending" });
    try {
      setState({
        state: "answered",
        answer: await whenConnected(() => client.action(mqttActions, "mqtt", "try.publish", parsed.params)),
      });
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
    }
  };
  return (
    <TryPage
      label="Try the broker"
      onSend={() => void publish()}
      question={
        <>
          <TryClientSection
            state={act}
            running={running}
            draft={who}
            parsed={parsedClient}
            onDraft={setWho}
            password={password}
            onPassword={setPassword}
            onConnect={() => void attempt(connect())}
          />
          <TrySection label="Publish">
            <TrySectionHead
              title="Publish"
              isLive
              state={<PublishResult state={state} leftOut={who.version === 4 && usesVersion5(draft)} />}
            >
              <SendButton
                title="Publish"
                running={running}
                sending={state.state === "sending"}
                isValid={"params" in parsed}
                onSend={() => void publish()}
              />
            </TrySectionHead>
            <PublishForm form={draftForm(draft, setDraft, parsed)} />
          </TrySection>
          <TryCommands draft={draft} subscription={subscription} client={{ ...who, password }} service={service} />
        </>
      }
    >
      <section className={own.watch} aria-label="Subscribe">
        <TrySubscribe
          state={act}
          running={running}
          draft={subscription}
          onDraft={setSubscription}
          onSubscribe={async (params) => {
            let answer: MqttTryAnswer | undefined;
            await attempt(
              whenConnected(() => client.action(mqttActions, "mqtt", "try.subscribe", params)).then((result) => {
                answer = result;
              }),
            );
            return answer;
          }}
          onUnsubscribe={(filter) => void attempt(client.action(mqttActions, "mqtt", "try.unsubscribe", { filter }))}
        />
        <TryReceived state={act} running={running} />
      </section>
    </TryPage>
  );
}

function PublishResult({ state, leftOut }: { readonly state: TryState<MqttTryAnswer>; readonly leftOut: boolean }) {
  switch (state.state) {
    case "untried":
    case "sending":
      return leftOut ? "3.1.1 has no properties: they are left out" : null;
    case "failed":
      return <TryProblem>{state.failure.message}</TryProblem>;
    case "answered":
      return (
        <>
          <Answer answer={state.answer} />
          {state.answer.ok && (
            <Button
              size="compact-xs"
              variant="subtle"
              rightSection={<IconArrowUpRight size={12} />}
              onClick={() => goTo(servicePage("mqtt", "live"))}
            >
              Live
            </Button>
          )}
        </>
      );
    default:
      return state satisfies never;
  }
}
