import type { ServerResponse } from "node:http";
import type { Socket } from "socket.io";
import type { WorkConnection } from "../../../core/turns/work-connection.ts";
import { WorkQueue } from "../../../core/turns/work-queue.ts";

type EngineConnection = Socket["conn"];

/** Of a response: its end, as engine.io calls it. */
interface AnswerStream extends Pick<ServerResponse, "once"> {
  end(body?: string): unknown;
}

/** What is used of engine.io's polling without a public name. */
interface PollingTransport {
  /** Of the body of a POST: packets with a separator between them. The POST is answered behind it. */
  onData(text: string): void;
  /** Of that POST. */
  readonly dataRes: AnswerStream | null;
}

export interface PollingInputOptions {
  /** Its packets are handed on in these turns. */
  readonly work: WorkConnection;
  /** Of one body. */
  readonly mostPackets: number;
  /** Characters that wait. */
  readonly mostWaiting: number;
  /** It sends more. */
  readonly onFlood: () => void;
}

const separator = "\x1e";

/**
 * A body of long polling may have tens of thousands of packets, which engine.io hands on in one go: they are handed on one by one, in turns, and the POST
 * is answered behind the last one. Until then its body counts as that of a request.
 */
export function takeInTurns(connection: EngineConnection, { work, mostPackets, mostWaiting, onFlood }: PollingInputOptions): void {
  const transport = connection.transport as unknown as PollingTransport;
  const take = transport.onData;
  const queue = new WorkQueue(work, () => connection.close(true));
  const held = new Set<HeldAnswer>();
  let isClosed = false;
  connection.once("close", () => {
    isClosed = true;
    queue.clear();
    for (const answer of held) answer.release();
    held.clear();
  });
  transport.onData = (text) => {
    if (queue.bytes > mostWaiting || hasMorePackets(text, mostPackets)) {
      onFlood();
      return;
    }
    let isTaken = false;
    let answer: HeldAnswer | undefined;
    const onTaken = () => {
      isTaken = true;
      if (!answer) return;
      held.delete(answer);
      answer.release();
    };
    queue.add(
      text.length,
      packetsOf(text, (packet) => take.call(transport, packet), onTaken),
    );
    // A packet of this body may have closed it.
    if (isTaken || isClosed || !transport.dataRes) return;
    answer = new HeldAnswer(transport.dataRes, () => connection.close(true));
    held.add(answer);
  };
}

/** An answer that is not given before it is released. */
class HeldAnswer {
  readonly #response: AnswerStream;
  readonly #end: AnswerStream["end"];
  #isGiven = false;
  #body: string | undefined;
  #isReleased = false;

  /** `onLost`: its client left, or was disconnected, before. */
  constructor(response: AnswerStream, onLost: () => void) {
    this.#response = response;
    this.#end = response.end;
    response.end = (body) => {
      this.#isGiven = true;
      this.#body = body;
    };
    response.once("close", () => {
      if (!this.#isReleased) onLost();
    });
  }

  release(): void {
    this.#isReleased = true;
    this.#response.end = this.#end;
    if (this.#isGiven) this.#response.end(this.#body);
  }
}

function hasMorePackets(text: string, most: number): boolean {
  let packets = 1;
  for (let at = text.indexOf(separator); at >= 0 && packets <= most; at = text.indexOf(separator, at + 1)) packets++;
  return packets > most;
}

function* packetsOf(text: string, take: (packet: string) => void, onTaken: () => void): Generator<void, void> {
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf(separator, at);
    const end = found < 0 ? text.length : found;
    take(text.slice(at, end));
    at = end + 1;
    yield;
  }
  onTaken();
}
