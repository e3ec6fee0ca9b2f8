import { Button } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { hashOf, servicePage } from "../../../app/route.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { useMqttView } from "../broker/use-broker.ts";
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
        filter={tree.filter}
        matching={tree.matching}
        onMessages={wildcard ? () => onScope({ topic: wildcard, below: false }) : undefined}
      />
    </section>
  );
}

interface FootProps {
  readonly filter: string;
  readonly matching: number;
  /** Present for a filter with wildcards. */
  readonly onMessages: (() => void) | undefined;
}

/** The number of topics, or of matching ones. */
function Foot({ filter, matching, onMessages }: FootProps) {
  const figures = useMqttView("figures");
  const { topics = 0, missingInTree = 0 } = figures ?? {};
  const isFull = missingInTree > 0;
  // A stopped broker counts no topics.
  if (filter === "" && !figures) return null;
  return (
    <div className={styles.foot}>
      {filter === "" ? (
        <span>
          {formatCountOf(topics, "topic")}
          {figures && !isFull && ` · ${formatCount(figures.retained)} retained`}
        </span>
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
      {isFull && (
        <a
          className={styles.full}
          href={hashOf(servicePage("mqtt", "config"))}
          title={`The tree is full: ${formatCountOf(missingInTree, "message")} on other topics are not in it. They were delivered and are in the history. Config sets how many topics fit: "Topics in the tree" (MQTT_TOPICS) and "Bytes of the tree" (MQTT_TOPIC_TREE_BYTES).`}
        >
          {filter === "" ? `full, ${formatCount(missingInTree)} not shown` : "full"}
        </a>
      )}
    </div>
  );
}
