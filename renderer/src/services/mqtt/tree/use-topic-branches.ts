import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type MqttTopicNode, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { createRefresher } from "../../../control/refresher.ts";
import { useService } from "../../../control/use-store.ts";
import { useOnFigures } from "../broker/use-broker.ts";
import { createTopicBranches, type TopicBranches } from "./topic-branches.ts";

const filterAfterMs = 150;
/** A level that takes the broker long to sort is read less often. */
const restFactor = 6;

export interface HeldTopicBranches extends TopicBranches {
  /** While true, counts and values are not updated. */
  hold(held: boolean): void;
}

/** The rows of the topic tree, updated as messages arrive. Components subscribe to its view. */
export function useTopicBranches(filter: string): HeldTopicBranches {
  const client = useControl();
  const status = useService("mqtt")?.status;
  const isHeld = useRef(false);
  const [branches] = useState(() => {
    const store = createTopicBranches({
      read: ({ filter: wanted, retained, topic, ...page }) =>
        wanted === undefined
          ? client.action(mqttActions, "mqtt", "topic.children", { ...(topic !== undefined && { topic }), ...page })
          : client.action(mqttActions, "mqtt", "topic.search", { filter: wanted, ...(retained && { retained }), ...page }),
    });
    const renew = createRefresher({ read: store.refresh, restFactor });
    const hold = (held: boolean) => {
      isHeld.current = held;
      if (!held) void renew();
    };
    return { ...store, hold, renew };
  });

  useEffect(() => {
    const timer = setTimeout(() => branches.setFilter(filter.trim()), filterAfterMs);
    return () => clearTimeout(timer);
  }, [branches, filter]);

  /** Identifies a run of the service. */
  const run = status?.state === "running" ? status.since : status && "stopped";
  const shownRun = useRef<number | string>(undefined);
  useEffect(() => {
    if (run === undefined || run === shownRun.current) return;
    // The shown rows stay when the service stops; a page that is opened later reads the kept ones.
    if (typeof run === "number" || shownRun.current === undefined) branches.reset();
    // The broker's last messages came after its last figures.
    else if (!isHeld.current) void branches.renew();
    shownRun.current = run;
  }, [branches, run]);
  useOnFigures(() => {
    if (!isHeld.current) void branches.renew();
  });
  return branches;
}

/** State of the topic for the head of the history; false if the topic was not read. */
export function useTopicFacts(branches: TopicBranches, topic: string): { readonly isRetained: boolean; readonly isBranch: boolean } {
  const read = (fact: (node: MqttTopicNode) => boolean) => () => {
    const node = topic === "" ? undefined : branches.nodeOf(topic);
    return node !== undefined && fact(node);
  };
  const isRetained = useSyncExternalStore(
    branches.subscribe,
    read((node) => node.retained),
  );
  const isBranch = useSyncExternalStore(
    branches.subscribe,
    read((node) => node.hasChildren),
  );
  return { isRetained, isBranch };
}
