import type { WebSocket } from "ws";
import { StepBytes } from "../service/step-bytes.ts";
import type { WorkConnection } from "../service/work-turns.ts";

/** What is used of ws without a public name: a Writable that parses what is written to it. */
interface FrameReceiver {
  /** Of the message that has not ended. */
  readonly _fragments: Buffer[];
  _write(bytes: Buffer, encoding: BufferEncoding, taken: Taken): void;
}
type Taken = (error?: Error | null) => void;

/** Fragments that are joined: of a byte, each takes hundreds. */
const manyFragments = 256;
/** Together longer than this, they are left as they are. */
const longestJoined = 64 << 10;

/**
 * Reads the frames of a WebSocket in the turns of all connections; to be called when it has just been opened. Of itself ws parses at once all that was read, which may
 * be thousands of fragments (RFC 6455 §5.4). `onRead` is called whenever some were read.
 */
export function readFramesInTurns(webSocket: WebSocket, connection: WorkConnection, onRead: () => void = () => {}): void {
  const receiver = (webSocket as WebSocket & { readonly _receiver: FrameReceiver })._receiver;
  const { _write: write } = receiver;
  const step = new StepBytes();
  /** Fragments up to there have been joined. */
  let joined = 0;
  const joinFragments = () => {
    const { _fragments: fragments } = receiver;
    if (fragments.length < joined) joined = 0;
    if (fragments.length - joined < manyFragments) return;
    const latest = fragments.splice(joined);
    const isSmall = latest.reduce((sum, { length }) => sum + length, 0) <= longestJoined;
    fragments.push(...(isSmall ? [Buffer.concat(latest)] : latest));
    joined = fragments.length;
  };
  let goOn = (): void => {};
  const share = connection.join(() => goOn());
  receiver._write = (bytes, encoding, taken) => {
    let at = 0;
    const next: Taken = (error) => {
      joinFragments();
      if (error || (at > 0 && at >= bytes.length)) {
        onRead();
        taken(error);
        return;
      }
      const { isOver } = share;
      if (isOver) onRead();
      if (at > 0) step.took(isOver);
      if (isOver) {
        goOn = writeStep;
        share.later();
      } else writeStep();
    };
    const writeStep = () => {
      const start = at;
      at = Math.min(bytes.length, start + step.bytes);
      write.call(receiver, bytes.subarray(start, at), encoding, next);
    };
    next();
  };
}
