import type { Socket } from "socket.io";
import { WorkQueue } from "../../../core/service/work-queue.ts";
import type { WorkConnection } from "../../../core/service/work-turns.ts";

type EngineConnection = Socket["conn"];

/** What is used of engine.io's polling without a public name. */
interface PollingTransport {
  /** Of the body of a POST: packets with a separator between them. */
  onData(text: string): void;
}

const separator = "\x1e";

/**
 * A body of long polling may have tens of thousands of packets, which engine.io hands on in one go: they are handed on one by one, in the turns of
 * `work`. A client for which more than `mostWaiting` characters wait is disconnected.
 */
export function takeInTurns(connection: EngineConnection, work: WorkConnection, mostWaiting: number): void {
  const transport = connection.transport as unknown as PollingTransport;
  const take = transport.onData;
  const queue = new WorkQueue(work, () => connection.close(true));
  connection.once("close", () => queue.clear());
  transport.onData = (text) => {
    if (queue.bytes > mostWaiting) connection.close(true);
    else
      queue.add(
        text.length,
        packetsOf(text, (packet) => take.call(transport, packet)),
      );
  };
}

function* packetsOf(text: string, take: (packet: string) => void): Generator<void, void> {
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf(separator, at);
    const end = found < 0 ? text.length : found;
    take(text.slice(at, end));
    at = end + 1;
    yield;
  }
}
