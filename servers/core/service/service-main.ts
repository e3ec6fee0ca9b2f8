import type { ServiceId } from "../../../contract/service.ts";
import { openFilesLimit } from "../net/descriptor-limit.ts";
import { createPeerClient } from "../streams/peer-client.ts";
import type { ToConsumer } from "../streams/peer-messages.ts";
import type { Outbox } from "../traffic/outbox.ts";
import { type BatchSender, openBatchSender } from "./batch-stream.ts";
import { collectAtRest, garbageCollector } from "./collect-at-rest.ts";
import type { FromService, Link, ToService } from "./link.ts";
import { processMemory } from "./memory-guard.ts";
import { type RunningService, runService } from "./run-service.ts";
import type { Service } from "./service.ts";
import { toFailure } from "./service-error.ts";

const lastWordsMs = 1_000;
/** A buffer that waits for a client keeps the block of Node's pool that it is a part of. Node has blocks of 64 KiB, so that a few bytes may keep that much. */
const poolBlockBytes = 8 << 10;

/** The life of a service's process: waits for `start`, serves, stops, and exits when its parent has exited. */
export function serviceMain(options: { services: readonly Service[]; id: string; link: Link; exit: (code: number) => void }): void {
  const { link, exit } = options;
  const service = options.services.find((candidate) => candidate.id === (options.id as ServiceId));
  if (!service) throw new Error(`no service "${options.id}"`);
  /** Undefined if it did not start. Every message awaits it, so that their order is kept. */
  let started: Promise<RunningService | undefined> = Promise.resolve(undefined);
  let outbox: Outbox | undefined;
  let batches: BatchSender | undefined;
  let onKept: ((records: Uint8Array) => void) | undefined;

  Buffer.poolSize = poolBlockBytes;
  // What is written to stderr is shown as a warning, and of this one its reader can change nothing.
  process.noDeprecation = true;
  const peers = createPeerClient((message) => link.post({ type: "stream", message }));

  const collect = garbageCollector();
  if (collect) collectAtRest({ collect });
  let crashing = false;
  async function crash(error: Error) {
    // A second error while exiting must not prevent the report of the first one.
    if (crashing) return;
    crashing = true;
    const message = error.stack ?? error.message;
    process.stderr.write(`${message}\n`);
    setTimeout(() => exit(1), lastWordsMs);
    // First the log lines that led to the error, then the error.
    outbox?.flush();
    await batches?.end();
    await link.postLast({ type: "crashed", message });
    exit(1);
  }
  process.on("uncaughtException", (error) => void crash(error));
  process.on("disconnect", () => exit(0));
  // Ctrl+C in the terminal reaches the whole process group: the supervisor stops the services in order.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

  async function onMessage(message: ToService) {
    switch (message.type) {
      case "start": {
        const running = runService(service as Service, {
          mode: message.mode,
          config: message.config,
          dataDir: message.dataDir,
          certificatesDir: message.certificatesDir,
          backlotPid: process.ppid,
          firstRowId: message.firstRowId,
          memory: processMemory,
          openFiles: openFilesLimit(),
          services: peers.services,
          onStream: (message) => link.post({ type: "stream", message }),
          onBatch: (batch, release) => batches?.send(batch, release),
          readKept: (after) => {
            link.post({ type: "readKept", after });
            return new Promise((resolve) => {
              onKept = resolve;
            });
          },
          onProgress: (doing) => link.post({ type: "starting", doing }),
          onView: (name, value) => link.post({ type: "view", name, value }),
          onCounters: (counters, at, clockMs) => link.post({ type: "counters", at, clockMs, counters }),
        });
        started = running.catch(() => undefined);
        try {
          const { outbox: itsOutbox, endpoints } = await running;
          outbox = itsOutbox;
          // Log lines of the start arrive before the report that it listens.
          outbox.flush();
          await outbox.acknowledged();
          link.post({ type: "running", endpoints });
        } catch (error) {
          link.post({ type: "failed", failure: toFailure(error) });
        }
        return;
      }
      case "stop": {
        await (await started)?.stop();
        await batches?.end();
        await link.postLast({ type: "stopped" });
        exit(0);
        return;
      }
      case "logLevel":
        (await started)?.setLogLevel(message.level);
        return;
      case "watched":
        (await started)?.setWatched(message.watched);
        return;
      case "pagesLeft":
        (await started)?.pagesLeft();
        return;
      // Not queued behind `start`, which reads the records.
      case "kept":
        onKept?.(message.records);
        return;
      case "ack":
        (await started)?.outbox.ack(message.seq);
        return;
      case "stream":
        // Not queued behind `start`, which may wait for the answer.
        if (isForConsumer(message.message)) peers.receive(message.message);
        else (await started)?.receiveStream(message.message);
        return;
      case "action":
        link.post(await answer(message.id, message.action, message.params));
        return;
      default:
        message satisfies never;
    }
  }

  async function answer(id: number, action: string, params: unknown): Promise<FromService> {
    try {
      return { type: "result", id, value: (await (await started)?.act(action, params)) ?? null };
    } catch (error) {
      return { type: "failure", id, failure: toFailure(error) };
    }
  }

  link.onMessage((message) => void onMessage(message));
  openBatchSender().then(
    (opened) => {
      batches = opened;
      link.post({ type: "loaded", batches: opened.address });
    },
    (error) => link.post({ type: "failed", failure: toFailure(error) }),
  );
}

type StreamToService = Extract<ToService, { type: "stream" }>["message"];

const isForConsumer = (message: StreamToService): message is ToConsumer =>
  message.type === "peerResult" || message.type === "peerItem" || message.type === "peerEnd";
