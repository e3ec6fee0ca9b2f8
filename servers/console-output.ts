import type { LogLine } from "../contract/log.ts";
import type { ServiceView } from "../contract/service.ts";

/** Output of a run without a window: JSON lines for programs on stdout, text for people on stderr. */
export interface ConsoleOutput {
  ready(dashboard: string): void;
  /** Each service's changes of state, once each. */
  status(view: ServiceView): void;
  logs(lines: readonly LogLine[]): void;
  say(text: string): void;
}

interface Writable {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export function createConsoleOutput(options: { json: boolean; stdout: Writable; stderr: Writable }): ConsoleOutput {
  const { json, stdout, stderr } = options;
  const people = json ? stderr : stdout;
  const last = new Map<string, string>();
  const print = (value: unknown) => void stdout.write(`${JSON.stringify(value)}\n`);
  return {
    ready(dashboard) {
      if (json) print({ type: "ready", dashboard });
      people.write(`Dashboard: ${dashboard}\n`);
    },
    status(view) {
      const { status } = view;
      const line = {
        type: "status",
        service: view.id,
        state: status.state,
        ...(status.state === "running" && { endpoints: status.endpoints }),
        ...(status.state === "running" && status.silentSince !== undefined && { answers: false }),
        ...(status.state === "failed" && {
          failure: { code: status.failure.code, message: status.failure.message, hint: status.failure.hint },
        }),
      };
      const text = JSON.stringify(line);
      // A service that was never started is not reported.
      if (text === last.get(view.id) || (!last.has(view.id) && status.state === "stopped")) return;
      last.set(view.id, text);
      if (json) stdout.write(`${text}\n`);
    },
    logs(lines) {
      if (lines.length === 0) return;
      stderr.write(`${lines.map(logText).join("\n")}\n`);
    },
    say: (text) => void stderr.write(`${text}\n`),
  };
}

const control = /\p{Cc}/u;

/** Control characters from a client must not drive the terminal. */
const printable = (text: string) =>
  // Most lines have none: a search is cheaper than a replacement.
  !control.test(text) ? text : text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);

const logText = (line: LogLine) =>
  `${new Date(line.at).toISOString()} ${line.level.padEnd(7)} ${line.source.padEnd(7)} ${printable(line.text)}`;
