import { type LogLine, logText } from "../contract/log.ts";
import { type Failure, isSilent, type ServiceId, type ServiceView } from "../contract/service.ts";
import { countText } from "./core/service/quantity.ts";

/** Output of a run without a window: JSON lines for programs on stdout, text for people on stderr. */
export interface ConsoleOutput {
  /** Every service asked for runs, or is one of `failed`. */
  ready(dashboard: string, failed: readonly FailedService[]): void;
  /** A file of recorded traffic is complete. */
  recorded(file: RecordedFile): void;
  /** The last line of a run that ends with an exit code other than 0. */
  failed(failure: ShownFailure, services?: readonly ServiceId[]): void;
  /** Each service's changes of state, once each. */
  status(view: ServiceView): void;
  logs(lines: readonly LogLine[]): void;
  say(text: string): void;
}

/** The parts of a failure that are printed. */
export type ShownFailure = Pick<Failure, "code" | "message" | "hint">;

export interface FailedService {
  readonly id: ServiceId;
  readonly failure: ShownFailure;
}

export interface RecordedFile {
  readonly service: ServiceId;
  readonly file: string;
  /** Rows in it. */
  readonly items: number;
  readonly bytes: number;
  /** Rows that are not kept any more, or never were, since the bounds of what is kept were reached. */
  readonly leftOut: number;
}

interface Writable {
  write(text: string): unknown;
  /** Bytes that nobody has read yet. */
  readonly writableLength: number;
  once(event: "drain", listener: () => void): unknown;
}

interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  /** What is used of Node's streams without a public name. */
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null;
}

/** Node waits in each write to a terminal, which takes nothing while its user selects text or has pressed Ctrl S: so would all of the program. */
export function keepFromBlocking(stream: OutputStream): void {
  if (stream.isTTY) stream._handle?.setBlocking?.(false);
}

const lastBytesMs = 500;

/** Resolves when what waits was read, or after half a second. */
export async function readToEnd(streams: readonly Writable[]): Promise<void> {
  const waiting = streams.filter(({ writableLength }) => writableLength > 0);
  if (waiting.length === 0) return;
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.all(waiting.map((stream) => new Promise<void>((resolve) => stream.once("drain", resolve)))),
    new Promise((resolve) => {
      timer = setTimeout(resolve, lastBytesMs);
    }),
  ]);
  clearTimeout(timer);
}

/** A program that starts Backlot may never read what it logs. */
const mostUnreadBytes = 1 << 20;

/** Writes lines while they are read; others are counted, and their number is written when they are read again. */
function createLineOutput(to: Writable): (lines: readonly string[]) => void {
  let leftOut = 0;
  return (lines) => {
    if (leftOut === 0 && to.writableLength <= mostUnreadBytes) {
      to.write(lines.join(""));
      return;
    }
    if (leftOut === 0) {
      to.once("drain", () => {
        to.write(`${countText(leftOut)} lines of the log were left out here, because nobody read them.\n`);
        leftOut = 0;
      });
    }
    leftOut += lines.length;
  };
}

export function createConsoleOutput(options: { json: boolean; stdout: Writable; stderr: Writable }): ConsoleOutput {
  const { json, stdout, stderr } = options;
  const people = json ? stderr : stdout;
  const last = new Map<string, string>();
  const writeLines = createLineOutput(stderr);
  const print = (value: unknown) => void stdout.write(`${JSON.stringify(value)}\n`);
  return {
    ready(dashboard, failed) {
      if (json) print({ type: "ready", dashboard, ...(failed.length > 0 && { failed: failed.map(({ id }) => id) }) });
      for (const { id, failure } of failed) people.write(`Failed: ${id}: ${failure.message}\n`);
      people.write(`Dashboard: ${dashboard}\n`);
    },
    recorded({ service, file, items, bytes, leftOut }) {
      if (json) print({ type: "recorded", service, file, items, bytes, ...(leftOut > 0 && { leftOut }) });
      const older = leftOut > 0 ? `; ${countText(leftOut)} more were recorded and not kept` : "";
      people.write(`Recorded: ${file} (${countText(items)} rows${older})\n`);
    },
    failed(failure, services) {
      if (json) print({ type: "failed", ...(services && { services }), failure: shownFailure(failure) });
      stderr.write(`${failure.code}: ${failure.message}\n${failure.hint}\n`);
    },
    status(view) {
      const { status } = view;
      const line = {
        type: "status",
        service: view.id,
        state: status.state,
        ...(status.state === "starting" && status.doing !== undefined && { doing: status.doing }),
        ...(status.state === "running" && { endpoints: status.endpoints }),
        ...(isSilent(status) && { answers: false }),
        ...(status.state === "failed" && {
          failure: shownFailure(status.failure),
        }),
      };
      const text = JSON.stringify(line);
      // A service that was never started is not reported.
      if (text === last.get(view.id) || (!last.has(view.id) && status.state === "stopped")) return;
      last.set(view.id, text);
      if (json) stdout.write(`${text}\n`);
    },
    logs(lines) {
      if (lines.length > 0) writeLines(lines.map(logText));
    },
    say: (text) => void stderr.write(`${text}\n`),
  };
}

const shownFailure = ({ code, message, hint }: ShownFailure): ShownFailure => ({ code, message, hint });
