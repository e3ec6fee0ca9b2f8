/** Messages between a service's process and the supervisor, over child_process IPC or Electron's parentPort. */

import type { LogLevel } from "../../../contract/log.ts";
import type { Endpoint, Failure } from "../../../contract/service.ts";
import type { BinaryFromService, BinaryToService } from "../streams/binary-publisher.ts";
import type { ConsumerMessage, ProviderMessage, ToConsumer, ToProvider } from "../streams/peer-messages.ts";
import type { Counters } from "./service.ts";

/** To serve, or only to answer actions on what is kept (`Service.browse`). */
export type ServiceMode = "serve" | "browse";

export type ToService =
  | {
      readonly type: "start";
      readonly mode: ServiceMode;
      readonly config: Readonly<Record<string, unknown>>;
      readonly dataDir: string;
      readonly certificatesDir: string;
      /** The first row id, so that a restarted service never reuses one. */
      readonly firstRowId: number;
    }
  | { readonly type: "stop" }
  /** Whether a dashboard receives the views now. */
  | { readonly type: "watched"; readonly watched: boolean }
  /** No dashboard has been open for some time. */
  | { readonly type: "pagesLeft" }
  | { readonly type: "logLevel"; readonly level: LogLevel }
  | { readonly type: "action"; readonly id: number; readonly action: string; readonly params: unknown }
  | { readonly type: "stream"; readonly message: BinaryToService | ToProvider | ToConsumer }
  /** The batch up to `seq` is stored; `OutboxLimits.unacknowledged` limits how many are not. */
  | { readonly type: "ack"; readonly seq: number }
  /** The answer to `readKept`: records as in a batch, each with its complete detail. Empty after the last. */
  | { readonly type: "kept"; readonly records: Uint8Array };

export type FromService =
  /** The process has loaded and waits for `start`. Its batches can be received at the address `batches` (`receiveBatches`). */
  | { readonly type: "loaded"; readonly batches: string }
  /** What a start does that takes long. */
  | { readonly type: "starting"; readonly doing: string }
  | { readonly type: "running"; readonly endpoints: readonly Endpoint[] }
  | { readonly type: "failed"; readonly failure: Failure }
  /** The last message after a requested stop. */
  | { readonly type: "stopped" }
  /** The last message before an exit because of an uncaught error. */
  | { readonly type: "crashed"; readonly message: string }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly failure: Failure }
  | { readonly type: "view"; readonly name: string; readonly value: unknown }
  /** Asks for the kept records beyond a row's id, the oldest first. */
  | { readonly type: "readKept"; readonly after: number }
  | { readonly type: "counters"; readonly at: number; readonly clockMs: number; readonly counters: Counters }
  | { readonly type: "stream"; readonly message: StreamFromService };

export type StreamFromService = BinaryFromService | ProviderMessage | ConsumerMessage;

/** Rows and log lines, sent over a connection of their own (`batch-stream.ts`). */
export interface ServiceBatch {
  readonly seq: number;
  /** Rows, details and parts as `RecordWriter` writes them. */
  readonly records: Uint8Array;
  /** Log lines as `LogWriter` writes them. */
  readonly logs: Uint8Array;
  /** Rows since the start that did not fit the queue. */
  readonly droppedRows: number;
  readonly droppedLogs: number;
}

export interface Link {
  post(message: FromService): void;
  /** Posts, and resolves when the message was written to the system: the process may exit then. */
  postLast(message: FromService): Promise<void>;
  onMessage(listener: (message: ToService) => void): void;
}

interface ParentPort {
  on(event: "message", listener: (event: { data: unknown }) => void): void;
  postMessage(message: unknown): void;
}

/** The end of the link that belongs to this process. Throws when no supervisor started it. */
export function parentLink(): Link {
  const { parentPort } = process as NodeJS.Process & { parentPort?: ParentPort };
  if (parentPort) {
    return {
      post: (message) => parentPort.postMessage(message),
      async postLast(message) {
        parentPort.postMessage(message);
        await new Promise((resolve) => setImmediate(resolve));
      },
      onMessage: (listener) => parentPort.on("message", (event) => listener(event.data as ToService)),
    };
  }
  if (!process.send) throw new Error("a service's process is started by Backlot only");
  return {
    // If the parent has just exited, send reports EPIPE; "disconnect" then ends this process.
    post: (message) => void process.send?.(message, undefined, undefined, () => {}),
    postLast: (message) => new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve())),
    onMessage: (listener) => process.on("message", (message) => listener(message as ToService)),
  };
}
