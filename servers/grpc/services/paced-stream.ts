import type { GrpcCall } from "../engine/grpc-call.ts";

export interface PacedStreamOptions {
  readonly call: GrpcCall;
  /** The number of the first item. */
  readonly first: number;
  /** Infinity streams until the client leaves. */
  readonly count: number;
  readonly intervalMs: number;
  /** Sends the item of a number; false once the client should read first. */
  readonly send: (number: number) => boolean;
}

/** Most items of one turn, however late the timer is. */
const mostAtOnce = 256;
const shortestTimerMs = 5;

/** Sends items at a rate, the first at once. Items that a slow client could not take are sent later; none is dropped. */
export function paceStream({ call, first, count, intervalMs, send }: PacedStreamOptions): void {
  const startedAt = performance.now();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  call.whenOver(() => clearTimeout(timer));
  const step = () => {
    if (call.isEnding) return;
    const due = Math.min(count, intervalMs <= 0 ? count : Math.floor((performance.now() - startedAt) / intervalMs) + 1);
    let room = call.isWritable;
    for (let burst = 0; room && sent < due && burst < mostAtOnce && !call.isEnding; burst++) {
      room = send(first + sent);
      sent++;
    }
    if (sent >= count) call.finish();
    else if (!room) call.whenWritable(step);
    else {
      const waitMs = sent < due ? 0 : Math.max(shortestTimerMs, startedAt + sent * intervalMs - performance.now());
      timer = setTimeout(() => call.run(step), waitMs);
    }
  };
  // The first item may come later.
  call.sendHeaders();
  step();
}
