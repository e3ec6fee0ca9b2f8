/** PostgreSQL and Redis of the system, started for a test file on free ports with folders of their own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export interface RealServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const isInCi = process.env.CI === "true";

/** Where the tests that need it are skipped, and why; in CI a missing server is a failure. */
export function missing(what: string, debianPackage: string, there: boolean): boolean {
  if (there) return false;
  const text = `${what} is not installed (Debian package ${debianPackage})`;
  if (isInCi) throw new Error(`${text}; in CI every tool must be there`);
  process.stderr.write(`Skipped: ${text}.\n`);
  return true;
}

/** Debian keeps PostgreSQL's programs off the PATH, in a folder per version. */
function postgresBin(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  return [...versions.map((version) => path.join(root, version, "bin")), ...pathFolders()].find((folder) =>
    isProgram(path.join(folder, "initdb")),
  );
}
const pathFolders = () => (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
const isProgram = (file: string) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const hasPostgres = (): boolean => postgresBin() !== undefined;
export const hasRedis = (): boolean => pathFolders().some((folder) => isProgram(path.join(folder, "redis-server")));

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** The URL of an empty database of this name at the server. */
export async function createDatabase({ url }: Pick<RealServer, "url">, name: string): Promise<string> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return url.replace(/postgres$/, name);
}

export async function startPostgres(): Promise<RealServer> {
  const bin = postgresBin() as string;
  const dir = mkdtempSync(path.join(os.tmpdir(), "backlot-postgres-"));
  const user = unprivileged();
  if (user) chownSync(dir, user.uid, user.gid);
  const data = path.join(dir, "data");
  const options = { cwd: dir, env: { ...process.env, LC_ALL: "C.UTF-8" }, ...user };
  execFileSync(path.join(bin, "initdb"), ["-D", data, "-U", "backlot", "--auth=trust", "-E", "UTF8", "--no-sync"], {
    ...options,
    stdio: "ignore",
  });
  const port = await freePort();
  const child = spawn(
    path.join(bin, "postgres"),
    [
      "-D",
      data,
      "-p",
      String(port),
      "-k",
      dir,
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "shared_buffers=32MB",
      "-c",
      "max_connections=60",
    ],
    { ...options, stdio: ["ignore", "ignore", "pipe"] },
  );
  const exited = once(child, "exit");
  await waitForText(child, /ready to accept connections/);
  return {
    url: `postgres://backlot@127.0.0.1:${port}/postgres`,
    pid: child.pid ?? 0,
    async stop() {
      // Fast shutdown: it ends the sessions that are left.
      child.kill("SIGINT");
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface RedisOptions {
  /** Of an earlier one, to come back at the same address. */
  readonly port?: number;
  readonly password?: string;
}

export async function startRedis({ port = 0, password }: RedisOptions = {}): Promise<RealServer> {
  const dir = mkdtempSync(path.join(os.tmpdir(), "backlot-redis-"));
  const ownPort = port || (await freePort());
  const options = {
    port: String(ownPort),
    bind: "127.0.0.1",
    dir,
    save: "",
    appendonly: "no",
    databases: "100",
    ...(password !== undefined && { requirepass: password }),
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn("redis-server", flags, { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  await waitForText(child, /Ready to accept connections/);
  return {
    url: `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${ownPort}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function waitForText(child: ChildProcess, pattern: RegExp): Promise<void> {
  let text = "";
  const stream = child.stderr ?? child.stdout;
  const said = new Promise<void>((resolve, reject) => {
    stream?.on("data", (chunk: Buffer) => {
      text += chunk;
      if (pattern.test(text)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${text}`)));
  });
  await Promise.race([
    said,
    sleep(60_000, undefined, { ref: false }).then(() => Promise.reject(new Error(`${child.spawnfile} was not ready: ${text}`))),
  ]);
}
