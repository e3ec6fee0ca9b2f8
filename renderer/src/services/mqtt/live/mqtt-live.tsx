import { useCallback, useEffect, useRef, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useRate, useService } from "../../../control/use-store.ts";
import { attempt, notifyDone } from "../../../ui/notify.tsx";
import { formatCountOf } from "../../../ui/quantity.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { useSpace } from "../../../ui/use-space.ts";
import { ClientsPanel } from "../clients/clients-panel.tsx";
import { DeliveryPanel } from "../history/delivery-panel.tsx";
import { HistoryPanel } from "../history/history-panel.tsx";
import { useChosenMessage } from "../history/use-chosen-message.ts";
import { useMessageHistory } from "../history/use-message-history.ts";
import { firstDraft, type PublishDraft, publishDraftSchema } from "../publish/publish-draft.ts";
import { firstWithMessage } from "../tree/topic-branches.ts";
import { TopicPanel } from "../tree/topic-panel.tsx";
import { hasWildcard, isMixed, noScope, scopeFilter, type TopicScope } from "../tree/topic-scope.ts";
import { useTopicBranches } from "../tree/use-topic-branches.ts";
import { useMqttViews } from "../use-mqtt-views.ts";
import { type MqttDialogName, MqttDialogs } from "./mqtt-dialogs.tsx";
import { MqttEmpty } from "./mqtt-empty.tsx";
import styles from "./mqtt-live.module.css";
import { MqttToolbar } from "./mqtt-toolbar.tsx";

/** Topics as a tree, the history of the chosen one, who received its messages, and who is connected. */
export function MqttLive() {
  const client = useControl();
  const service = useService("mqtt");
  const rate = useRate("mqtt");
  const views = useMqttViews();
  const { figures } = views;
  const [topicFilter, setTopicFilter] = useRemembered("mqtt.topic-filter", "");
  const [scope, setScope] = useRemembered<TopicScope>("mqtt.scope", noScope);
  const [text, setText] = useState("");
  const [branches, tree] = useTopicBranches({ filter: topicFilter, figures, running: service?.status.state === "running" });
  const [history, shown] = useMessageHistory({ filter: scopeFilter(scope), text, figures });
  const [chosenId, setChosenId] = useState<number>();
  const [clientId, setClientId] = useState<string>();
  const [picked, setPicked] = useState(false);
  const [dialog, setDialog] = useState<MqttDialogName>();
  /** Whose retained messages are to be cleared; without, those of the shown filter. */
  const [clearing, setClearing] = useState<string>();
  const [draft, setDraft] = useRemembered("mqtt.draft", firstDraft, publishDraftSchema);
  const [pausedAt, setPausedAt] = useState<{ readonly messages: number; readonly unrecorded: number }>();
  const running = service?.status.state === "running";
  /** Only what was cleared last can be brought back. */
  const withdrawUndo = useRef<() => void>(undefined);

  // Until a row is chosen, and while its topic is another one, the newest message is shown.
  const chosen = shown.messages.find(({ id }) => id === chosenId);
  const message = chosen ?? (chosenId === undefined ? shown.messages[0] : undefined);
  const detail = useChosenMessage(message, figures);

  // The first topic that has a message is open from the start, also where that of last time has none any more.
  const isForgotten = !picked && shown.loaded && shown.messages.length === 0 && text === "" && !isMixed(scope);
  const first = scope.topic === "" || isForgotten ? firstWithMessage(tree) : undefined;
  const { topic: firstTopic, below: firstBelow = false } = first ?? {};
  useEffect(() => {
    if (firstTopic !== undefined) setScope({ topic: firstTopic, below: firstBelow });
  }, [firstTopic, firstBelow, setScope]);

  const choose = useCallback(
    (next: TopicScope) => {
      setPicked(true);
      setScope(next);
      setChosenId(undefined);
    },
    [setScope],
  );
  const togglePause = () => {
    if (pausedAt) history.resume();
    else history.pause();
    branches.hold(!pausedAt);
    setPausedAt(pausedAt ? undefined : { messages: figures?.messagesIn ?? 0, unrecorded: figures?.unrecorded ?? 0 });
  };
  useSpace(togglePause);
  const beginAnew = (next: TopicScope) => {
    branches.reset();
    history.reset();
    setScope(next);
    setPicked(next !== noScope);
    setChosenId(undefined);
  };
  const restore = (shown: TopicScope) =>
    attempt(
      client.action(mqttActions, "mqtt", "history.restore").then(({ restored }) => {
        if (restored) beginAnew(shown);
        else notifyDone("It can no longer be restored.");
      }),
    );
  const clearHistory = () =>
    attempt(
      client.action(mqttActions, "mqtt", "history.clear").then(({ cleared }) => {
        beginAnew(noScope);
        withdrawUndo.current?.();
        withdrawUndo.current = notifyDone(`Cleared ${formatCountOf(cleared, "message")}. Retained messages stay.`, {
          title: "Undo",
          run: () => void restore(scope),
        });
      }),
    );
  const openDialog = (name: MqttDialogName | undefined, filter?: string) => {
    if (name === "retained") setClearing(filter);
    setDialog(name);
  };
  const openDraft = (next: PublishDraft) => {
    setDraft(next);
    setDialog("publish");
  };

  // The broker's own figures are no traffic.
  const isSilent = figures === undefined || figures.topics === 0;
  const isBare = !running || (isSilent && (figures?.sessions ?? 0) === 0);
  return (
    <section className={styles.live} aria-label="Live messages">
      <MqttToolbar
        rate={rate}
        views={views}
        running={running}
        shownCount={shown.messages.length}
        kept={figures?.kept ?? 0}
        pausedAt={pausedAt}
        onPause={togglePause}
        onClear={() => void clearHistory()}
        onDialog={openDialog}
      />
      {isBare ? (
        <MqttEmpty service={service} demo={views.demo} onPublish={() => setDialog("publish")} />
      ) : (
        <div className={styles.columns}>
          <TopicPanel
            branches={branches}
            tree={tree}
            figures={figures}
            filter={topicFilter}
            onFilter={setTopicFilter}
            scope={scope}
            onScope={choose}
            onClearRetained={(filter) => openDialog("retained", filter)}
          />
          <HistoryPanel
            scope={scope}
            onScope={choose}
            isRetained={tree.nodeOf(scope.topic)?.retained ?? false}
            isBranch={tree.nodeOf(scope.topic)?.hasChildren ?? hasWildcard(scope.topic)}
            history={history}
            view={shown}
            text={text}
            onText={setText}
            chosen={message}
            detail={detail}
            onChoose={setChosenId}
            onPublish={openDraft}
            service={service}
          />
          <aside className={styles.side} aria-label="Delivery and clients">
            <DeliveryPanel message={detail.message} onClient={setClientId} />
            <ClientsPanel page={views.clients} sessions={figures?.sessions ?? 0} chosenId={clientId} onChoose={setClientId} />
          </aside>
        </div>
      )}
      <MqttDialogs
        open={dialog}
        onOpen={openDialog}
        draft={draft}
        onDraft={setDraft}
        views={views}
        scope={scope}
        clearing={clearing}
        text={text}
        service={service}
      />
    </section>
  );
}
