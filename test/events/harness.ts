import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { EventRow, EventsActions, EventsViews } from "../../contract/services/events.ts";
import type { ServiceMode } from "../../servers/core/service/link.ts";
import { eventsService } from "../../servers/events/events-service.ts";
import { onEnd, type ServiceUnderTest, startService } from "../support/start-service.ts";

interface EventsContract {
  readonly actions: EventsActions;
  readonly views: EventsViews;
}

export interface EventsUnderTest extends ServiceUnderTest<EventsContract> {
  readonly url: string;
  readonly port: number;
  /** The database, where it is the one in the data folder. */
  readonly file: string;
  view<Name extends keyof EventsViews>(name: Name): EventsViews[Name];
}

export { onEnd };

/** The service on a free port, stopped after the test. */
export async function startEvents(
  config: Record<string, unknown> = {},
  options: { dataDir?: string; mode?: ServiceMode } = {},
): Promise<EventsUnderTest> {
  const service = await startService<EventsContract>(eventsService, { ...options, config: { port: 0, ...config } });
  const first = service.endpoints[0]?.url;
  const { origin, port } = first === undefined ? { origin: "", port: "0" } : new URL(first);
  return {
    ...service,
    url: origin,
    port: Number(port),
    file: path.join(service.dataDir, "events.db"),
    view: <Name extends keyof EventsViews>(name: Name) => service.views.get(name) as EventsViews[Name],
  };
}

export interface EventsProcess {
  readonly url: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** The same in a process of its own, which a test may kill. */
export async function startProcess(dataDir: string, config: Record<string, unknown> = {}): Promise<EventsProcess> {
  const child = spawn(
    process.execPath,
    [path.join(import.meta.dirname, "serve-events.ts"), dataDir, JSON.stringify({ port: 0, ...config })],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(child, "exit");
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await exited;
  };
  onEnd(stop);
  const [line] = (await Promise.race([once(child.stdout, "data"), exited.then(() => Promise.reject(new Error("the service ended")))])) as [
    Buffer,
  ];
  return { url: `http://127.0.0.1:${String(line).trim()}`, child, stop };
}

export const device = (number: number): string => `0b6f3c1e-5d0a-4a53-9a0e-${String(number).padStart(12, "0")}`;

export type Body = Record<string, unknown>;

/** A whole event as a client sends it. */
export const eventBody = (part: Body = {}): Body => ({
  device_id: device(1),
  outcome: "accepted",
  file_ext: ".ts",
  language: "typescript",
  prefix_length: 15,
  trimmed_prefix_length: 13,
  line_count: 210,
  relative_position: 0.14,
  after_cursor_ws: false,
  last_char: ")",
  last_nonws_char: "é",
  indentation_level: 8,
  completion_lines: 3,
  completion_additions: 3,
  completion_deletions: 0,
  completion_source: "typing",
  manually_triggered: false,
  provider: "remote-a",
  stage_index: 0,
  cursor_target_distance: 12,
  is_prefetched: true,
  display_duration_ms: 1200,
  time_since_last_edit_ms: 800,
  typing_speed: 4.2,
  recent_actions: ["IC", "IC", "DC"],
  has_diagnostics: false,
  treesitter_scope: "function",
  edit_count: 18,
  predicted_edit_ratio: 0.33,
  completions_since_accept: 3,
  ...part,
});

export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/events`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });

/** Posts them one after the other; throws for one that is not taken. */
export async function postAll(url: string, bodies: readonly Body[]): Promise<void> {
  for (const body of bodies) {
    const answer = await post(url, body);
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`${answer.status}: ${text}`);
  }
}

export interface PageAnswer {
  readonly data: readonly EventRow[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export const getPage = async (url: string, query = ""): Promise<PageAnswer> =>
  (await (await fetch(`${url}/events${query}`)).json()) as PageAnswer;
export const getStats = async (url: string): Promise<unknown> => (await fetch(`${url}/stats`)).json();
