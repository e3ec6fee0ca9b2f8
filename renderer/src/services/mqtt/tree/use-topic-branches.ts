import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { type MqttFigures, type MqttTopicNode, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { failureOf } from "../../../control/failure-error.ts";
import { createRefresher } from "../../../control/refresher.ts";
import { notifyFailure } from "../../../ui/notify.tsx";
import { createTopicBranches, type TopicBranches, type TopicBranchesView } from "./topic-branches.ts";

const filterAfterMs = 150;
/** A level that took the broker long to sort is asked for less often. */
const restFactor = 6;

export interface HeldTopicBranches extends TopicBranches {
  /** Counts and values stand still. */
  hold(held: boolean): void;
}
export interface TopicTreeView extends TopicBranchesView {
  /** As shown last; undefined where it was not. */
  readonly nodeOf: (topic: string) => MqttTopicNode | undefined;
}

interface Options {
  readonly filter: string;
  /** Something moved whenever these are others. */
  readonly figures: MqttFigures | undefined;
  readonly running: boolean;
}

/** The rows of the topic tree, renewed while messages come. */
export function useTopicBranches({ filter, figures, running }: Options): readonly [HeldTopicBranches, TopicTreeView] {
  const client = useControl();
  const held = useRef(false);
  const [branches] = useState(() => {
    const store = createTopicBranches({
      read: ({ filter: wanted, topic, ...page }) =>
        wanted === undefined
          ? client.action(mqttActions, "mqtt", "topic.children", { ...(topic !== undefined && { topic }), ...page })
          : client.action(mqttActions, "mqtt", "topic.search", { filter: wanted, ...page }),
      onFailure: notifyUnlessGone,
    });
    const hold = (isHeld: boolean) => {
      held.current = isHeld;
      if (!isHeld) void store.refresh();
    };
    return { ...store, hold, renew: createRefresher({ read: store.refresh, restFactor }) };
  });
  const view = useSyncExternalStore(branches.subscribe, branches.view);

  useEffect(() => {
    const timer = setTimeout(() => branches.setFilter(filter.trim()), filterAfterMs);
    return () => clearTimeout(timer);
  }, [branches, filter]);
  useEffect(() => {
    if (running) branches.reset();
  }, [branches, running]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the figures say that there is something new to read.
  useEffect(() => {
    if (running && !held.current) void branches.renew();
  }, [branches, figures, running]);

  const tree = useMemo(
    () => ({
      ...view,
      nodeOf: (topic: string) => {
        const index = topic === "" ? -1 : branches.indexOf(topic);
        return index < 0 ? undefined : view.rowAt(index)?.node;
      },
    }),
    [view, branches],
  );
  return [branches, tree];
}

/** The page says by itself that the service has stopped, and the frame that the connection is lost. */
export function notifyUnlessGone(error: unknown): void {
  const { code } = failureOf(error);
  if (code !== "CONNECTION_LOST" && code !== "SERVICE_NOT_RUNNING") notifyFailure(error);
}
