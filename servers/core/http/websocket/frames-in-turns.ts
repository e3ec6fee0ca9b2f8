import type { WebSocket } from "ws";
import { StepBytes } from "../../turns/step-bytes.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import { joinSmallPieces } from "../connections/small-pieces.ts";

/** What is used of ws without a public name: a Writable that parses what is written to it. */
interface FrameReceiver {
  /** Of the message that has not ended. */
  readonly _fragments: Buffer[];
  /** Of the frame that has not ended. */
  readonly _buffers: Buffer[];
  _write(bytes: Buffer, encoding: BufferEncoding, taken: Taken): void;
  /** Parses what is there. ws goes on with it in a turn of the event loop of its own behind each message. */
  startLoop(taken: Taken): void;
  emit(event: string, ...values: unknown[]): boolean;
  /** Events of several messages may come in the same step. */
  readonly _allowSynchronousEvents: boolean;
}
type Taken = (error?: Error | null) => void;

/** What is of the client's making, and as much work for others. */
const clientEvents: ReadonlySet<string> = new Set(["message", "ping", "pong"]);

/**
 * Reads the frames of a WebSocket in the turns of all connections, and lets its messages be handled in them; to be called when it has just been opened. Of itself ws
 * parses at once all that was read, which may be thousands of fragments (RFC 6455 §5.4), and hands over a message of each connection in the same turn of
 * the event loop (where `allowSynchronousEvents` is off). `onRead` is called whenever some were read. Returns a function that drops what waits, and all that comes.
 */
export function readFramesInTurns(webSocket: WebSocket, connection: WorkConnection, onRead: () => void = () => {}): () => void {
  const receiver = (webSocket as WebSocket & { readonly _receiver: FrameReceiver })._receiver;
  const { _write: write, startLoop, emit } = receiver;
  const step = new StepBytes();
  const [joinFragments, joinBuffers] = [joinSmallPieces(), joinSmallPieces()];
  let goOn = (): void => {};
  /** The event that waits for its turn. ws goes on behind it. */
  let waiting: (() => void) | undefined;
  /** To be called once for what is being written. */
  let whenTaken: Taken | undefined;
  let isEnded = false;
  const finish: Taken = (error) => {
    const taken = whenTaken;
    whenTaken = undefined;
    taken?.(error);
  };
  const share = connection.join(() => {
    try {
      goOn();
    } catch (error) {
      // ws closes the WebSocket for it.
      finish(error as Error);
    }
  });
  receiver.emit = (event, ...values) => {
    const hand = () => emit.call(receiver, event, ...values);
    if (receiver._allowSynchronousEvents || !clientEvents.has(event) || !share.isOver) return hand();
    waiting = hand;
    return true;
  };
  receiver.startLoop = (taken) => {
    if (isEnded) return;
    if (!waiting && !share.isOver) {
      startLoop.call(receiver, taken);
      return;
    }
    goOn = () => {
      waiting?.();
      waiting = undefined;
      startLoop.call(receiver, taken);
    };
    share.later();
  };
  receiver._write = (bytes, encoding, taken) => {
    if (isEnded) {
      taken();
      return;
    }
    whenTaken = taken;
    let at = 0;
    const next: Taken = (error) => {
      if (isEnded) return;
      const isOver = error ? false : share.isOver;
      if (at > 0) step.took(isOver);
      if (error || (at > 0 && at >= bytes.length)) {
        joinFragments(receiver._fragments, bytes);
        joinBuffers(receiver._buffers, bytes);
        onRead();
        finish(error);
        return;
      }
      if (!isOver) {
        writeStep();
        return;
      }
      onRead();
      if (isEnded) return;
      goOn = writeStep;
      share.later();
    };
    const writeStep = () => {
      const start = at;
      at = Math.min(bytes.length, start + step.bytes);
      write.call(receiver, bytes.subarray(start, at), encoding, next);
    };
    next();
  };
  return () => {
    isEnded = true;
    goOn = () => {};
    waiting = undefined;
    finish();
  };
}
