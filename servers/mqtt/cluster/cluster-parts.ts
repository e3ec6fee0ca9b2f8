import type { RedisConnections } from "../../core/redis/redis-connections.ts";
import type { Log } from "../../core/service/log.ts";
import type { Engine } from "../engine/engine.ts";
import type { ClusterScripts } from "./cluster-scripts.ts";
import type { GroupRegistry } from "./group-registry.ts";
import type { Incoming } from "./incoming.ts";
import type { Outgoing } from "./outgoing.ts";
import type { RedisOperation } from "./redis-operation.ts";
import type { RedisSessionStore } from "./redis-session-store.ts";

/** Shared dependencies of the parts of a cluster's broker. */
export interface ClusterParts {
  /** Gets a new value when the other brokers declared this one dead. */
  readonly brokerId: string;
  readonly engine: Engine;
  readonly redis: RedisConnections;
  readonly scripts: ClusterScripts;
  readonly outgoing: Outgoing;
  readonly incoming: Incoming;
  readonly registry: GroupRegistry;
  readonly store: RedisSessionStore;
  readonly log: Log;
  /** Redis is connected and this broker's state is up to date. */
  readonly isConnected: boolean;
  /** Redis is reconnected; rejoining is in progress. */
  readonly comingBack: Promise<void> | undefined;
  /** Queues an operation for the next commit. */
  note(operation: RedisOperation): void;
  /** Commits all queued operations and entries now. */
  flush(): void;
  /** Resolves when Redis has taken most of what was committed, or is lost. */
  caughtUp(): Promise<void>;
  /** `buried`: the other brokers declared this one dead, and Redis refuses its commits. */
  lost(reason: string, buried?: boolean): void;
}
