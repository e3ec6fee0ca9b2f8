import { type ReactNode, useMemo, useSyncExternalStore } from "react";
import type { ServiceView } from "../../../../../contract/service.ts";
import { Boundary } from "../../../ui/status/boundary.tsx";
import { DeliveryPanel } from "../history/delivery-panel.tsx";
import { HistoryPanel } from "../history/history-panel.tsx";
import type { MessageHistory } from "../history/message-history.ts";
import { useChosenMessage } from "../history/use-chosen-message.ts";
import type { PublishDraft } from "../publish/publish-draft.ts";
import type { TopicScope } from "../tree/topic-scope.ts";
import { type HeldTopicBranches, useTopicFacts } from "../tree/use-topic-branches.ts";
import styles from "./mqtt-live.module.css";

interface MessageColumnsProps {
  readonly branches: HeldTopicBranches;
  readonly history: MessageHistory;
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly withoutSample: boolean;
  readonly onWithoutSample: (without: boolean) => void;
  readonly chosenId: number | undefined;
  readonly onChoose: (id: number | undefined) => void;
  readonly onPublish: (draft: PublishDraft) => void;
  readonly onClient: (clientId: string) => void;
  readonly service: ServiceView | undefined;
  /** Below the delivery. */
  readonly children: ReactNode;
}

/** The messages of the selected topic, and the deliveries of the selected message. */
export function MessageColumns(props: MessageColumnsProps) {
  const { branches, history, scope, chosenId, onClient, children } = props;
  const view = useSyncExternalStore(history.subscribe, history.view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version has other rows in the same places.
  const messages = useMemo(() => history.toArray(), [history, view.version]);
  const facts = useTopicFacts(branches, scope.topic);
  // The newest message is shown until a row of this topic is selected.
  const message = chosenId === undefined ? messages[0] : history.find({ id: chosenId });
  const detail = useChosenMessage(message);
  return (
    <>
      <Boundary region="mqtt history">
        <HistoryPanel {...props} {...facts} view={view} messages={messages} chosen={message} detail={detail} />
      </Boundary>
      <aside className={styles.side} aria-label="Delivery and clients">
        <Boundary region="mqtt delivery">
          <DeliveryPanel message={detail.message} onClient={onClient} />
        </Boundary>
        {children}
      </aside>
    </>
  );
}
