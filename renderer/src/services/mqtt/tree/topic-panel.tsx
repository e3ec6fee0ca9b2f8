import { Button } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { hashOf, servicePage } from "../../../app/route.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { useMqttView } from "../broker/use-broker.ts";
import type { TopicBranchesView } from "./topic-branches.ts";
import styles from "./topic-panel.module.css";
import { hasWildcard, isTopicFilter, type TopicScope } from "./topic-scope.ts";
import { TopicTree } from "./topic-tree.tsx";
import type { HeldTopicBranches } from "./use-topic-branches.ts";

interface TopicPanelProps {
  readonly branches: HeldTopicBranches;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
  readonly onClearRetained: (filter: string) => void;
}

export function TopicPanel({ branches, filter, onFilter, scope, onScope, onClearRetained }: TopicPanelProps) {
  const wildcard = hasWildcard(filter.trim()) && isTopicFilter(filter.trim()) ? filter.trim() : undefined;
  const tree = useSyncExternalStore(branches.subscribe, branches.view);
  const isFull = useMqttView("figures", ({ missingInTree }) => missingInTree > 0) ?? false;
  return (
    <section className={styles.panel} aria-label="Topics">
      <form
        className={styles.filter}
        onSubmit={(event) => {
          event.preventDefault();
          if (wildcard) onScope({ topic: wildcard, below: false });
        }}
      >
        <FilterInput width="100%" placeholder="Filter topics, + and # allowed" value={filter} onChange={onFilter} />
      </form>
      <Answered
        answer={{ value: tree.loaded ? tree : undefined, failure: tree.failure, isReading: false, again: branches.refresh }}
        what="the topics"
        compact
      >
        {() => (
          <TopicTree
            branches={branches}
            tree={tree}
            chosen={scope.topic}
            isFull={isFull}
            onScope={onScope}
            onFilter={onFilter}
            onClearRetained={onClearRetained}
          />
        )}
      </Answered>
      <Foot
        tree={tree}
        onRetained={branches.setRetained}
        onMessages={wildcard ? () => onScope({ topic: wildcard, below: false }) : undefined}
      />
    </section>
  );
}

interface FootProps {
  readonly tree: TopicBranchesView;
  readonly onRetained: (retained: boolean) => void;
  /** Present for a filter with wildcards. */
  readonly onMessages: (() => void) | undefined;
}

/** The number of topics, or of matching ones. */
function Foot({ tree: { filter, retained, matching }, onRetained, onMessages }: FootProps) {
  const figures = useMqttView("figures");
  const { topics = 0, missingInTree = 0 } = figures ?? {};
  const isFull = missingInTree > 0;
  // A stopped broker counts no topics.
  if (filter === "" && !retained && !figures) return null;
  const isTree = filter === "" && !retained;
  return (
    <div className={styles.foot}>
      {isTree ? (
        <span>{formatCountOf(topics, "topic")}</span>
      ) : (
        <>
          <span>{`${formatCount(matching)} of ${isFull ? formatCount(topics) : formatCountOf(topics, "topic")}`}</span>
          {onMessages && (
            <Button size="compact-xs" variant="subtle" onClick={onMessages}>
              Show messages
            </Button>
          )}
        </>
      )}
      {figures && (
        <Button
          className={styles.retained}
          size="compact-xs"
          variant="subtle"
          aria-pressed={retained}
          title={retained ? "Show all topics" : "Show only topics with a retained message"}
          onClick={() => onRetained(!retained)}
        >
          {`${formatCount(figures.retained)} retained`}
        </Button>
      )}
      {isFull && (
        <a
          className={styles.full}
          href={hashOf(servicePage("mqtt", "config"))}
          title={`The tree is full: ${formatCountOf(missingInTree, "message")} on other topics are not in it. They were delivered and are in the history. Config sets how many topics fit: "Topics in the tree" (MQTT_TOPICS) and "Bytes of the tree" (MQTT_TOPIC_TREE_BYTES).`}
        >
          {isTree ? `full, ${formatCount(missingInTree)} not shown` : "full"}
        </a>
      )}
    </div>
  );
}
