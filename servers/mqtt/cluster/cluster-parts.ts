import type { Log } from "../../core/service/log.ts";
import type { Engine } from "../engine/engine.ts";
import type { ClusterScripts, RedisOperation } from "./cluster-scripts.ts";
import type { GroupRegistry } from "./group-registry.ts";
import type { Incoming } from "./incoming.ts";
import type { Outgoing } from "./outgoing.ts";
import type { RedisConnections } from "./redis-connections.ts";
import type { RedisSessionStore } from "./redis-session-store.ts";

/** What the parts of a cluster's broker have in common. */
export interface ClusterParts {
  /** Another one after the others took this broker for dead. */
  readonly brokerId: string;
  readonly engine: Engine;
  readonly redis: RedisConnections;
  readonly scripts: ClusterScripts;
  readonly outgoing: Outgoing;
  readonly incoming: Incoming;
  readonly registry: GroupRegistry;
  readonly store: RedisSessionStore;
  readonly log: Log;
  /** Redis is there, and this broker knows what it has to know. */
  readonly isConnected: boolean;
  /** Redis is there again and may be used soon. */
  readonly comingBack: Promise<void> | undefined;
  /** Goes to Redis with the next commit. */
  note(operation: RedisOperation): void;
  /** Commits now all that was noted and told. */
  flush(): void;
  /** `buried`: the others took this broker for dead, and Redis refuses what it says. */
  lost(reason: string, buried?: boolean): void;
}
