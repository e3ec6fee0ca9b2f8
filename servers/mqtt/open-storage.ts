import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { MqttActions, MqttViews } from "../../contract/services/mqtt.ts";
import { countOf } from "../core/service/quantity.ts";
import type { ServiceContext } from "../core/service/service.ts";
import type { RedisCluster } from "./cluster/redis-cluster.ts";
import type { EngineLimits } from "./engine/engine-limits.ts";
import type { RetainedTree } from "./engine/retained/retained-tree.ts";
import type { SessionStore, StoredState } from "./engine/session/session-store.ts";
import type { MqttConfig } from "./mqtt-config.ts";
import type { TraceOf } from "./persistence/load-sessions.ts";

/** Retained messages that are loaded in one turn of the event loop. */
const messagesAtOnce = 500;

export interface Storage {
  /** Absent where nothing outlives the process. */
  readonly store: SessionStore | undefined;
  /** Of an earlier run, to be restored. */
  readonly sessions: StoredState["sessions"];
  readonly cluster: RedisCluster | undefined;
}

export interface StoragePlaces {
  readonly retained: RetainedTree;
  readonly limits: Pick<EngineLimits, "retainedMessages" | "retainedBytes">;
  /** For messages of an earlier run. */
  readonly traceOf: TraceOf;
}

/** Opens the store of sessions and retained messages, and loads the retained ones into the tree. SQLite and Redis are imported only if configured. */
export async function openStorage(
  { config, dataDir, log, onStop }: ServiceContext<MqttConfig, MqttActions, MqttViews>,
  { retained, limits: { retainedMessages, retainedBytes }, traceOf }: StoragePlaces,
): Promise<Storage> {
  if (config.cluster !== "") {
    const { openCluster } = await import("./cluster/redis-cluster.ts");
    const cluster = await openCluster({ url: config.cluster, timeoutMs: config.clusterTimeoutMs, retained, log });
    onStop(() => cluster.close());
    if (config.persistence) log.notable("Redis keeps sessions and retained messages for all brokers: nothing is kept on disk here.");
    return { store: cluster.store, sessions: [], cluster };
  }
  if (!config.persistence) return { store: undefined, sessions: [], cluster: undefined };
  const { openSqliteSessionStore } = await import("./persistence/sqlite-session-store.ts");
  const store = await openSqliteSessionStore({
    file: path.join(dataDir(), "sessions.sqlite"),
    synchronous: config.powerSafe ? "FULL" : "NORMAL",
    traceOf,
  });
  onStop(() => store.close());
  const state = store.load();
  let count = 0;
  for (const message of state.retained) {
    if (retained.count < retainedMessages && retained.heldBytes + message.bytes <= retainedBytes) retained.set(message);
    else store.retainedRemoved(message.topic);
    if (++count % messagesAtOnce === 0) await setImmediate();
  }
  if (count > retained.count)
    log.warning(`${countOf(count - retained.count, "retained message")} of an earlier run were above the limits and are gone.`);
  return { store, sessions: state.sessions, cluster: undefined };
}
