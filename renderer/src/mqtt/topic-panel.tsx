import { Button } from "@mantine/core";
import type { MqttFigures } from "../../../contract/mqtt.ts";
import { FilterInput } from "../components/filter-input.tsx";
import { formatCount, formatCountOf } from "../format/quantity.ts";
import styles from "./topic-panel.module.css";
import { hasWildcard, isTopicFilter, type TopicScope } from "./topic-scope.ts";
import { TopicTree } from "./topic-tree.tsx";
import type { HeldTopicBranches, TopicTreeView } from "./use-topic-branches.ts";

interface TopicPanelProps {
  readonly branches: HeldTopicBranches;
  readonly tree: TopicTreeView;
  readonly figures: MqttFigures | undefined;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
}

export function TopicPanel({ branches, tree, figures, filter, onFilter, scope, onScope }: TopicPanelProps) {
  const wildcard = hasWildcard(filter.trim()) && isTopicFilter(filter.trim()) ? filter.trim() : undefined;
  return (
    <section className={styles.panel} aria-label="Topics">
      <form
        className={styles.filter}
        onSubmit={(event) => {
          event.preventDefault();
          if (wildcard) onScope({ topic: wildcard, below: false });
        }}
      >
        <FilterInput width="100%" placeholder="Filter topics, + and # work" value={filter} onChange={onFilter} />
      </form>
      <TopicTree branches={branches} tree={tree} chosen={scope.topic} onScope={onScope} onFilter={onFilter} />
      <div className={styles.foot}>
        {tree.filter === "" ? (
          <span>{figures && `${formatCountOf(figures.topics, "topic")} · ${formatCount(figures.retained)} retained`}</span>
        ) : (
          <>
            <span>{`${formatCount(tree.matching)} of ${formatCountOf(figures?.topics ?? 0, "topic")}`}</span>
            {wildcard && (
              <Button size="compact-xs" variant="subtle" onClick={() => onScope({ topic: wildcard, below: false })}>
                Their messages
              </Button>
            )}
          </>
        )}
      </div>
    </section>
  );
}
