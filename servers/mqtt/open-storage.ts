import path from "node:path";
import type { MqttActions, MqttViews } from "../../contract/services/mqtt.ts";
import type { ServiceContext } from "../core/service/service.ts";
import type { RedisCluster } from "./cluster/redis-cluster.ts";
import type { RetainedTree } from "./engine/retained/retained-tree.ts";
import type { SessionStore, StoredSession } from "./engine/session/session-store.ts";
import type { MqttConfig } from "./mqtt-config.ts";

export interface Storage {
  /** Absent where nothing outlives the process. */
  readonly store: SessionStore | undefined;
  readonly sessions: readonly StoredSession[];
  readonly cluster: RedisCluster | undefined;
}

/** Opens the store of sessions and retained messages, and loads the retained ones into the tree. SQLite and Redis are imported only if configured. */
export async function openStorage(
  { config, dataDir, log, onStop }: ServiceContext<MqttConfig, MqttActions, MqttViews>,
  retained: RetainedTree,
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
  });
  onStop(() => store.close());
  const state = store.load();
  for (const message of state.retained) retained.set(message);
  return { store, sessions: state.sessions, cluster: undefined };
}
