import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { errorText, ServiceError } from "../service/service-error.ts";

/** Who shares the Redis, for errors. */
export interface RedisSharers {
  /** Plural: "brokers". */
  readonly name: string;
  /** The variable with its address. */
  readonly variable: string;
  /** What an empty variable means: "a broker of its own". */
  readonly alone: string;
}

export interface RedisConnections {
  readonly commands: Redis;
  /** Only receives published frames. */
  readonly listening: Redis;
  /** Address for messages and logs, without user and password. */
  readonly where: string;
  readonly database: number;
  /** When this Redis was started, as `performance.now()`: brokers may still be about to reconnect. */
  readonly startedAt: number;
  /** Reads `startedAt` again: after a reconnect it may be another Redis. */
  look(): Promise<void>;
  /** Both connections are usable. */
  readonly isReady: boolean;
  /** How often one of the connections broke. */
  readonly breaks: number;
  onBreak(listener: () => void): void;
  /** Whether both connections answer what they are asked; those that do not are ended and opened again. */
  probe(): Promise<boolean>;
  close(): void;
}

const connectTimeoutMs = 3_000;
const answerTimeoutMs = 5_000;
const oldestVersion = [6, 2] as const;

/** Throws CLUSTER_UNREACHABLE. A connection that is lost later reconnects automatically. */
export async function connectRedis(url: string, sharers: RedisSharers): Promise<RedisConnections> {
  const where = describeUrl(url);
  const commands = await connect(url, where, sharers);
  try {
    let startedAt = 0;
    const look = async () => {
      const info = await commands.info("server");
      checkVersion(/redis_version:(\S+)/.exec(info)?.[1] ?? "", where, sharers);
      startedAt = performance.now() - Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1] ?? 0) * 1_000;
    };
    await look();
    const listening = await connect(url, where, sharers);
    let breaks = 0;
    const listeners: (() => void)[] = [];
    for (const connection of [commands, listening]) {
      connection.on("close", () => {
        breaks++;
        for (const listener of listeners) listener();
      });
    }
    return {
      get isReady() {
        return commands.status === "ready" && listening.status === "ready";
      },
      get breaks() {
        return breaks;
      },
      onBreak: (listener) => void listeners.push(listener),
      async probe() {
        const answers = await Promise.all([commands, listening].map(answersPing));
        return answers.every((answers) => answers);
      },
      look,
      commands,
      listening,
      where,
      database: commands.options.db ?? 0,
      get startedAt() {
        return startedAt;
      },
      close() {
        commands.disconnect();
        listening.disconnect();
      },
    };
  } catch (error) {
    commands.disconnect();
    throw error instanceof ServiceError ? error : unreachable(where, errorText(error), sharers);
  }
}

async function connect(url: string, where: string, sharers: RedisSharers): Promise<Redis> {
  const { Redis: Client } = await import("ioredis");
  const redis = new Client(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    // No automatic retry: the callers repeat commands that were in progress when a connection broke.
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    commandTimeout: answerTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    // After a failover the address may lead to the new master, and the connection leads to the former one.
    reconnectOnError: ({ message }) => message.includes("READONLY"),
  });
  refuseOtherDatabases(redis);
  let problem = "";
  // A database that does not exist is reported here too.
  const note = (error: Error) => {
    problem ||= error.message;
  };
  redis.on("error", note);
  try {
    await redis.connect();
  } catch (error) {
    problem ||= errorText(error);
  }
  if (problem !== "") {
    redis.disconnect();
    throw unreachable(where, problem, sharers);
  }
  return redis;
}

/**
 * The client goes on in database 0 where Redis has refused the one of the address, as while a script keeps it busy: such a connection is
 * ended before it is ready, and opened again.
 */
export function refuseOtherDatabases(redis: Redis): void {
  redis.on("error", ({ command }: Error & { readonly command?: { readonly name: string } }) => {
    if (command?.name === "select") redis.disconnect(true);
  });
}

/**
 * A connection whose other end is gone may look open for a quarter of an hour, and one that has lost or got a byte too many has the answers
 * to other commands: then it is ended, and opened again.
 */
async function answersPing(redis: Redis): Promise<boolean> {
  const token = randomUUID();
  try {
    // To a subscriber it is a list.
    if ([await redis.ping(token)].flat().includes(token)) return true;
  } catch {
    // It has broken, or has not answered in time.
  }
  if (redis.status === "ready") redis.disconnect(true);
  return false;
}

export function unreachable(where: string, problem: string, { name, variable, alone }: RedisSharers): ServiceError {
  return new ServiceError(
    "CLUSTER_UNREACHABLE",
    `The Redis at ${where}, which the ${name} share, cannot be used: ${problem}`,
    `Start that Redis, correct the address or the password in ${variable}, or leave it empty for ${alone}.`,
  );
}

function checkVersion(version: string, where: string, sharers: RedisSharers): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestVersion;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw unreachable(where, `its version is ${version || "not known"}, and ${oldestVersion.join(".")} or newer is needed`, sharers);
}

/** The address alone. */
function describeUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
