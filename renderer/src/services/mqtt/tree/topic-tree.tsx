// biome-ignore-all lint/a11y: rows are positioned absolutely; the tree has the focus and handles the keys.

import { Button } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconDots } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, memo, useEffect, useId, useRef, useState } from "react";
import type { MqttTopicNode } from "../../../../../contract/services/mqtt.ts";
import { movedRow } from "../../../list/row-cursor.ts";
import { formatBytes, shortCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime } from "../../../ui/texts/time.ts";
import { RowAction, VirtualList, VirtualRow } from "../../../ui/virtual-list.tsx";
import { previewOf } from "../../../viewer/payload-preview.ts";
import type { TopicBranchesView, TopicRow } from "./topic-branches.ts";
import { TopicMenu } from "./topic-menu.tsx";
import { TopicName } from "./topic-name.tsx";
import styles from "./topic-panel.module.css";
import { hasWildcard, isTopicFilter, type TopicScope } from "./topic-scope.ts";
import type { HeldTopicBranches } from "./use-topic-branches.ts";

const rowPx = 26;

interface TopicTreeProps {
  readonly branches: HeldTopicBranches;
  readonly tree: TopicBranchesView;
  readonly chosen: string;
  /** The tree is full, so topics are missing. */
  readonly isFull: boolean;
  readonly onScope: (scope: TopicScope) => void;
  readonly onFilter: (filter: string) => void;
  readonly onClearRetained: (filter: string) => void;
}

/** Only visible rows are rendered, and only their branches are read from the broker. */
export function TopicTree({ branches, tree, chosen, isFull, onScope, onFilter, onClearRetained }: TopicTreeProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const idPrefix = useId();
  /** The topic of the open menu. */
  const [asked, setAsked] = useState<MqttTopicNode>();
  const virtual = useVirtualizer({ count: tree.count, getScrollElement: () => scroller.current, estimateSize: () => rowPx, overscan: 4 });
  const items = virtual.getVirtualItems();
  const isList = tree.filter !== "" || tree.retained;
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => branches.look(first, last), [branches, first, last]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the top when the rows change.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [tree.filter, tree.retained]);

  const choose = ({ node }: TopicRow) => onScope({ topic: node.topic, below: node.last === undefined });
  const moveTo = (index: number) => {
    const row = tree.rowAt(index);
    virtual.scrollToIndex(index);
    if (row) choose(row);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = chosen === "" ? -1 : branches.indexOf(chosen);
    const row = at < 0 ? undefined : tree.rowAt(at);
    const pageRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPx) - 1);
    if (event.key === "ArrowRight" && row?.node.hasChildren) {
      if (row.expanded) moveTo(at + 1);
      else branches.toggle(row.node.topic, true);
    } else if (event.key === "ArrowLeft" && row) {
      if (row.expanded) branches.toggle(row.node.topic, false);
      else if (row.depth > 0) moveTo(parentIndex(tree, at, row.depth));
    } else if (event.key === "Enter" && row?.node.hasChildren) branches.toggle(row.node.topic);
    else {
      const to = movedRow(event.key, at, tree.count, pageRows);
      if (to === undefined) return;
      moveTo(to);
    }
    event.preventDefault();
  };

  /** When opened by key, it is the menu of the selected row. */
  const onContextMenu = (event: MouseEvent) => {
    const id = (event.target as Element).closest("[role=treeitem]")?.id;
    const row = tree.rowAt(id === undefined ? branches.indexOf(chosen) : Number(id.slice(idPrefix.length + 1)));
    if (row) setAsked(row.node);
    else event.preventDefault();
  };

  const shown = items.map((item) => ({ item, row: tree.rowAt(item.index) }));
  const active = shown.find(({ row }) => row?.node.topic === chosen);
  return (
    <>
      <div className={styles.head} aria-hidden="true">
        <span>Topic</span>
        <span>Count</span>
        <span>Last value</span>
      </div>
      {tree.loaded && tree.count === 0 && isList && (
        <div className={styles.none}>
          {hasWildcard(tree.filter) && !isTopicFilter(tree.filter)
            ? "Not a valid topic filter: + is one level, # is the last."
            : isFull
              ? "No matches in the tree, which is full."
              : "No matches."}
          <Button
            size="compact-xs"
            onClick={() => {
              onFilter("");
              branches.setRetained(false);
            }}
          >
            Show all
          </Button>
        </div>
      )}
      <div className="focus-frame">
        <TopicMenu node={asked} chosen={tree.rowAt(branches.indexOf(chosen))?.node} onScope={onScope} onClearRetained={onClearRetained}>
          <VirtualList
            ref={scroller}
            heightPx={virtual.getTotalSize()}
            role="tree"
            aria-label="Topics"
            aria-activedescendant={active ? `${idPrefix}-${active.item.index}` : undefined}
            onKeyDown={onKeyDown}
            onContextMenu={onContextMenu}
          >
            {shown.map(
              ({ item, row }) =>
                row && (
                  <TopicTreeRow
                    key={item.key}
                    domId={`${idPrefix}-${item.index}`}
                    topPx={item.start}
                    row={row}
                    isFiltered={isList}
                    isChosen={row.node.topic === chosen}
                    onChoose={choose}
                    onToggle={branches.toggle}
                  />
                ),
            )}
          </VirtualList>
        </TopicMenu>
      </div>
    </>
  );
}

function parentIndex(tree: TopicBranchesView, from: number, depth: number): number {
  for (let index = from - 1; index > 0; index--) if ((tree.rowAt(index)?.depth ?? depth) < depth) return index;
  return 0;
}

const lastText = ({ at }: NonNullable<MqttTopicNode["last"]>) =>
  at === undefined ? "published before the broker's start" : `last ${clockTime(at)}`;

interface TopicTreeRowProps {
  readonly domId: string;
  readonly topPx: number;
  readonly row: TopicRow;
  readonly isFiltered: boolean;
  readonly isChosen: boolean;
  readonly onChoose: (row: TopicRow) => void;
  readonly onToggle: (topic: string) => void;
}

const TopicTreeRow = memo(
  function TopicTreeRow({ domId, topPx, row, isFiltered, isChosen, onChoose, onToggle }: TopicTreeRowProps) {
    const { node, depth, expanded } = row;
    const canOpen = node.hasChildren && !isFiltered;
    const value = node.last && (previewOf(node.last.preview) || (node.last.bytes === 0 ? "empty" : `<${formatBytes(node.last.bytes)}>`));
    const Chevron = expanded ? IconChevronDown : IconChevronRight;
    return (
      <VirtualRow
        id={domId}
        role="treeitem"
        aria-level={depth + 1}
        aria-selected={isChosen}
        aria-expanded={canOpen ? expanded : undefined}
        className={styles.row}
        topPx={topPx}
        heightPx={rowPx}
        onMouseDown={(event) => event.button === 0 && onChoose(row)}
        onDoubleClick={() => canOpen && onToggle(node.topic)}
        title={
          node.last
            ? `${shownText(node.topic)}\n${lastText(node.last)}, QoS ${node.last.qos}${node.retained ? ", retained" : ""}`
            : shownText(node.topic)
        }
      >
        <span className={styles.topic} style={{ paddingLeft: isFiltered ? 6 : depth * 13 }}>
          {!isFiltered && (
            <span
              className={styles.chevron}
              onMouseDown={(event) => {
                if (!canOpen || event.button !== 0) return;
                event.stopPropagation();
                onToggle(node.topic);
              }}
            >
              {canOpen && <Chevron size={13} stroke={1.5} aria-hidden="true" />}
            </span>
          )}
          {isFiltered ? (
            <TopicName topic={node.topic} />
          ) : (
            <span className={styles.name}>{node.name === "" ? <i>(empty)</i> : shownText(node.name)}</span>
          )}
        </span>
        <span className={styles.count}>{shortCount(node.count)}</span>
        <span className={styles.value}>{value}</span>
        {/* For the pointer; by keyboard: the menu key. */}
        <RowAction
          title={`More for ${shownText(node.topic)}`}
          onMouseDown={(event) => event.stopPropagation()}
          onClick={({ currentTarget, clientX, clientY }) =>
            currentTarget.dispatchEvent(new globalThis.MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX, clientY }))
          }
        >
          <IconDots size={14} stroke={1.5} aria-hidden="true" />
        </RowAction>
      </VirtualRow>
    );
  },
  (before, after) =>
    before.row.node === after.row.node &&
    before.row.expanded === after.row.expanded &&
    before.row.depth === after.row.depth &&
    before.topPx === after.topPx &&
    before.isChosen === after.isChosen &&
    before.isFiltered === after.isFiltered &&
    before.onChoose === after.onChoose,
);
