import type { RequestParser } from "./parsed-socket.ts";

/** A parser of Node that counts. */
interface CountingParser extends RequestParser {
  /** Of the piece that was parsed last. */
  droppedBytes?: number;
}

let nodeExecute: RequestParser["execute"] | undefined;

/** One function for all parsers, and never taken away: Node gives them to others, for which V8 would have no fast code any more. */
function execute(this: CountingParser, bytes: Buffer): number | Error {
  const parsed = (nodeExecute as RequestParser["execute"]).call(this, bytes);
  this.droppedBytes = typeof parsed === "number" ? bytes.length - parsed : 0;
  return parsed;
}

/** To be called for the parser of a connection: what it has not parsed of a piece Node drops, behind a request that offers another protocol and is answered as if it had not. */
export function countDroppedBytes(parser: CountingParser): void {
  nodeExecute ??= (Object.getPrototypeOf(parser) as RequestParser).execute;
  parser.droppedBytes = 0;
  parser.execute = execute;
}

/** Of the piece, which the parser has got last. */
export function takeDroppedBytes(parser: CountingParser, piece: Buffer): Buffer | undefined {
  const { droppedBytes: count = 0 } = parser;
  if (count === 0) return undefined;
  parser.droppedBytes = 0;
  return piece.subarray(piece.length - count);
}
