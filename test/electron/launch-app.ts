import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type * as Electron from "electron";
import { _electron, chromium, type Page } from "playwright-core";
import { services } from "../../servers/catalog.ts";
import { configProperties, environmentNames } from "../../servers/core/config/config.ts";

export const root = path.resolve(import.meta.dirname, "../..");

/** Runs in the main process, so it must stand on its own: no imports, no variables from around it. */
type InMain<Result, Argument> = (electron: typeof Electron, argument: Argument) => Result | Promise<Result>;

export interface App {
  /** The first window's page. */
  readonly page: Page;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  inMain<Result>(run: InMain<Result, undefined>): Promise<Result>;
  inMain<Result, Argument>(run: InMain<Result, Argument>, argument: Argument): Promise<Result>;
  /** Quits as a user does; resolves with the exit code. */
  quit(): Promise<number | null>;
  /** Ends it, if it still runs. */
  dispose(): Promise<void>;
}

const binaryNames: Partial<Record<NodeJS.Platform, string>> = { darwin: "Electron.app/Contents/MacOS/Electron", win32: "electron.exe" };

function electronBinary(): string | undefined {
  const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH ?? path.join(root, "node_modules/electron/dist");
  const file = path.join(folder, binaryNames[process.platform] ?? "electron");
  return existsSync(file) ? file : undefined;
}

const binary = process.env.BACKLOT_TEST_DOUBLE === "1" ? undefined : electronBinary();
const electronVersion: string = JSON.parse(readFileSync(path.join(root, "node_modules/electron/package.json"), "utf8")).version;

export const isDouble = binary === undefined;

/** Which of the two these tests drive. */
export const runtime = binary
  ? `Electron ${electronVersion}`
  : "the double of the electron module with Chromium (no Electron binary on this machine)";

const args = (dataDir: string, more: readonly string[]) => ["--data-dir", dataDir, ...more];
const endDeadlineMs = 15_000;
/** What a window shows is waited for as long as anything else in the tests. */
const patienceMs = 60_000;
const rootSwitches = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

/** Any free port for HTTP, where a test asks for none. */
/** Every service on whichever ports are free. */
const portVariables = services.flatMap((service) =>
  configProperties(service).flatMap(([field, property]) =>
    service.ports.some((port) => port.field === field && port.block?.kind !== "destinations")
      ? environmentNames(service, property).slice(0, 1)
      : [],
  ),
);
const environment = { ...process.env, ...Object.fromEntries(portVariables.map((name) => [name, "0"])) } as Record<string, string>;

/** Starts the program as the launcher does, with a channel to tell when it is up. */
export function spawnApp(
  dataDir: string,
  more: readonly string[] = [],
  main = "dist/electron/main.cjs",
  variables: Readonly<Record<string, string>> = {},
): ChildProcess {
  const [command, before] = binary
    ? [binary, [...rootSwitches, root]]
    : [process.execPath, ["--import", pathToFileURL(path.join(root, "test/electron-double/register.ts")).href, path.join(root, main)]];
  return spawn(command, [...before, ...args(dataDir, more)], {
    cwd: root,
    env: { ...environment, ...(isDouble && { TMPDIR: dataDir }), ...variables },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

/** Ends a program in order, or by force where that does not help. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const force = setTimeout(() => child.kill("SIGKILL"), endDeadlineMs);
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
  clearTimeout(force);
}

export const launchApp = (dataDir: string, more: readonly string[] = []): Promise<App> =>
  binary ? launchElectron(binary, dataDir, more) : launchDouble(dataDir, more);

async function launchElectron(executablePath: string, dataDir: string, more: readonly string[]): Promise<App> {
  const app = await _electron.launch({
    executablePath,
    cwd: root,
    env: environment,
    args: [...rootSwitches, root, ...args(dataDir, more)],
  });
  const child = app.process();
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const page = await app.firstWindow();
  page.setDefaultTimeout(patienceMs);
  return {
    page,
    pid: child.pid as number,
    exited,
    inMain: <Result, Argument>(run: InMain<Result, Argument>, argument?: Argument) =>
      app.evaluate(run as never, argument) as Promise<Result>,
    async quit() {
      // Not ElectronApplication.close, which does not tell the exit code.
      await app.evaluate(({ app: main }) => main.quit()).catch(() => {});
      return await exited;
    },
    dispose: () => endProcess(child),
  };
}

interface Value {
  readonly type: "value";
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** In the double; `main` is another program than the product's. */
export async function launchDouble(
  dataDir: string,
  more: readonly string[],
  main?: string,
  variables?: Readonly<Record<string, string>>,
): Promise<App> {
  const child = spawnApp(dataDir, more, main, variables);
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const waiting = new Map<number, (value: Value) => void>();
  const endpoint = Promise.withResolvers<string>();
  const up = Promise.withResolvers<void>();
  child.on("message", (message: Value | { type: "endpoint"; url: string } | { type: "up" }) => {
    if (message.type === "value") waiting.get(message.id)?.(message);
    else if (message.type === "endpoint") endpoint.resolve(message.url);
    else up.resolve();
  });
  const ended = exited.then((code) => Promise.reject(new Error(`The app ended with ${code} before its window was up:\n${stderr}`)));
  await Promise.race([up.promise, ended]);
  const browser = await chromium.connectOverCDP(await endpoint.promise);
  // The double keeps a blank page beside its windows.
  const page = browser
    .contexts()[0]
    ?.pages()
    .find((candidate) => candidate.url() !== "about:blank");
  if (!page) throw new Error("The double has no window");
  page.setDefaultTimeout(patienceMs);
  let lastId = 0;
  const inMain = async (run: unknown, argument?: unknown) => {
    const id = ++lastId;
    const answer = new Promise<Value>((resolve) => waiting.set(id, resolve));
    child.send({ type: "evaluate", id, source: String(run), argument });
    const { value, error } = await Promise.race([answer, exited.then(() => ({ value: undefined, error: "The app has ended" }))]);
    if (error !== undefined) throw new Error(error);
    return value as never;
  };
  // Chromium writes to the data folder until it ends, which may be after the program was killed.
  const disconnected = new Promise<void>((resolve) => browser.once("disconnected", () => resolve()));
  return {
    page,
    pid: child.pid as number,
    exited,
    inMain,
    async quit() {
      await inMain(({ app }: typeof Electron) => app.quit()).catch(() => {});
      return await exited;
    },
    async dispose() {
      await endProcess(child);
      await disconnected;
    },
  };
}
