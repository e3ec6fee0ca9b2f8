import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { z } from "zod";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useService } from "../../../control/use-store.ts";
import { OtherRowInspector, OtherRows, useOtherRows } from "../../../pages/service/other-rows.tsx";
import { usePauseCommand } from "../../../ui/commands.ts";
import { Boundary } from "../../../ui/status/boundary.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useMqttView } from "../broker/use-broker.ts";
import { ClientsPanel } from "../clients/clients-panel.tsx";
import type { MessageHistory } from "../history/message-history.ts";
import { useMessageHistory } from "../history/use-message-history.ts";
import { MqttEventInspector } from "../inspectors/mqtt-event-inspector.tsx";
import { mqttRowCommands } from "../inspectors/mqtt-row-commands.ts";
import { draftWithoutCredentials, firstDraft, type PublishDraft, publishDraftSchema } from "../publish/publish-draft.ts";
import { firstWithMessage } from "../tree/topic-branches.ts";
import { TopicPanel } from "../tree/topic-panel.tsx";
import { hasWildcard, isMixed, noScope, scopeFilter, type TopicScope } from "../tree/topic-scope.ts";
import { type HeldTopicBranches, useTopicBranches } from "../tree/use-topic-branches.ts";
import { MessageColumns } from "./message-columns.tsx";
import { type MqttDialogName, MqttDialogs } from "./mqtt-dialogs.tsx";
import { MqttEmpty } from "./mqtt-empty.tsx";
import styles from "./mqtt-live.module.css";
import { MqttToolbar } from "./mqtt-toolbar.tsx";

/** Those that were ended with a fault too; messages have a history of their own. */
const connections = {
  title: "Connections and subscriptions",
  unsuccessful: "Refused or lost",
  ofKind: "mqtt-event",
  placeholder: "Reason, client, filter",
  terms: { fields: ["status", "method", "path", "client", "reason"] },
  inspectors: { "mqtt-event": MqttEventInspector },
  rowCommands: mqttRowCommands,
} as const;

/**
 * Topic tree, history of the selected topic, deliveries and clients. This component holds the user's selection; each region subscribes
 * to the data that changes with messages, so that a message does not render the whole page.
 */
export function MqttLive() {
  const client = useControl();
  const service = useService("mqtt");
  const [topicFilter, setTopicFilter] = useRemembered("mqtt.topic-filter", "");
  const [scope, setScope] = useRemembered<TopicScope>("mqtt.scope", noScope);
  const [text, setText] = useState("");
  const [withoutSample, setWithoutSample] = useRemembered("mqtt.without-sample", false, z.boolean());
  const branches = useTopicBranches(topicFilter);
  const history = useMessageHistory({ filter: scopeFilter(scope), text, withoutSample });
  const [chosenId, setChosenId] = useState<number>();
  const [clientId, setClientId] = useState<string>();
  const [picked, setPicked] = useState(false);
  const [dialog, setDialog] = useState<MqttDialogName>();
  /** Filter of the retained messages to clear; by default the shown filter. */
  const [clearing, setClearing] = useState<string>();
  const [draft, setDraft] = useRemembered("mqtt.draft", firstDraft, publishDraftSchema, { keeps: draftWithoutCredentials });
  const [paused, setPaused] = useState(false);
  const others = useOtherRows("mqtt", connections, paused);
  const unrecorded = useMqttView("figures", (figures) => figures.unrecordedEvents);
  const isBare = useIsBare(branches);
  /** Only the last clear can be undone. */
  const withdrawUndo = useRef<() => void>(undefined);

  const choose = useCallback(
    (next: TopicScope) => {
      setPicked(true);
      setScope(next);
      setChosenId(undefined);
    },
    [setScope],
  );
  const togglePause = () => {
    if (paused) history.resume();
    else history.pause();
    branches.hold(!paused);
    setPaused(!paused);
  };
  usePauseCommand({ paused, onToggle: togglePause });
  const showReset = (next: TopicScope) => {
    branches.reset();
    void history.replaced();
    setScope(next);
    setPicked(next !== noScope);
    setChosenId(undefined);
  };
  const restore = (shown: TopicScope) =>
    attempt(
      client.action(mqttActions, "mqtt", "history.restore").then(({ restored }) => {
        if (restored) showReset(shown);
        else notifyDone("It can no longer be restored.");
      }),
    );
  const clearHistory = () =>
    attempt(
      client.action(mqttActions, "mqtt", "history.clear").then(({ cleared }) => {
        showReset(noScope);
        withdrawUndo.current?.();
        withdrawUndo.current = notifyDone(`Cleared ${formatCountOf(cleared, "message")}. Retained messages stay.`, {
          title: "Undo",
          run: () => void restore(scope),
        });
      }),
    );
  const openDialog = (name: MqttDialogName | undefined) => {
    setClearing(undefined);
    // The selected topic is the default for publishing.
    if (name === "publish" && isPublishable(scope)) setDraft({ ...draft, topic: scope.topic });
    setDialog(name);
  };
  const askToClear = useCallback((filter: string) => {
    setClearing(filter);
    setDialog("retained");
  }, []);
  const openDraft = useCallback(
    (next: PublishDraft) => {
      setDraft(next);
      setDialog("publish");
    },
    [setDraft],
  );
  return (
    <section className={styles.live} aria-label="Live messages">
      <Boundary region="mqtt toolbar" line>
        <MqttToolbar
          history={history}
          service={service}
          paused={paused}
          onPause={togglePause}
          onClear={() => void clearHistory()}
          onDialog={openDialog}
        />
      </Boundary>
      <FirstTopic branches={branches} history={history} scope={scope} onScope={setScope} mayReplace={!picked && text === ""} />
      {isBare ? (
        <MqttEmpty service={service} onPublish={() => setDialog("publish")} />
      ) : (
        <div className={styles.columns}>
          <Boundary region="mqtt topics">
            <TopicPanel
              branches={branches}
              filter={topicFilter}
              onFilter={setTopicFilter}
              scope={scope}
              onScope={choose}
              onClearRetained={askToClear}
            />
          </Boundary>
          <MessageColumns
            branches={branches}
            history={history}
            scope={scope}
            onScope={choose}
            text={text}
            onText={setText}
            withoutSample={withoutSample}
            onWithoutSample={setWithoutSample}
            chosenId={chosenId}
            onChoose={setChosenId}
            onPublish={openDraft}
            onClient={setClientId}
            service={service}
          >
            <Boundary region="mqtt clients">
              <ClientsPanel chosenId={clientId} onChoose={setClientId} />
            </Boundary>
          </MessageColumns>
        </div>
      )}
      <Boundary region="mqtt connections" line>
        <OtherRows others={others} unrecorded={unrecorded} />
      </Boundary>
      <OtherRowInspector others={others} />
      <Boundary region="mqtt dialogs" shows={dialog} line>
        <MqttDialogs
          open={dialog}
          onOpen={setDialog}
          draft={draft}
          onDraft={setDraft}
          scope={scope}
          clearing={clearing}
          text={text}
          withoutSample={withoutSample}
          service={service}
        />
      </Boundary>
    </section>
  );
}

const isPublishable = ({ topic }: TopicScope): boolean => topic !== "" && !topic.startsWith("$") && !hasWildcard(topic);

/** No messages and no clients; the history of a stopped broker counts as content. */
function useIsBare(branches: HeldTopicBranches): boolean {
  // $SYS messages do not count as traffic.
  const isQuiet = useMqttView("figures", ({ topics, sessions }) => topics === 0 && sessions === 0);
  const hasRows = useSyncExternalStore(branches.subscribe, () => branches.view().count > 0);
  return isQuiet ?? !hasRows;
}

interface FirstTopicProps {
  readonly branches: HeldTopicBranches;
  readonly history: MessageHistory;
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
  /** The remembered topic was not chosen by the user on this page. */
  readonly mayReplace: boolean;
}

/** Selects the first topic with a message if none is selected or the remembered one has no messages. Renders nothing. */
function FirstTopic({ branches, history, scope, onScope, mayReplace }: FirstTopicProps) {
  const tree = useSyncExternalStore(branches.subscribe, branches.view);
  const isEmpty = useSyncExternalStore(history.subscribe, () => history.view().loaded && history.view().count === 0);
  const isForgotten = mayReplace && isEmpty && !isMixed(scope);
  const first = scope.topic === "" || isForgotten ? firstWithMessage(tree) : undefined;
  const { topic, below = false } = first ?? {};
  useEffect(() => {
    if (topic !== undefined) onScope({ topic, below });
  }, [topic, below, onScope]);
  return null;
}
