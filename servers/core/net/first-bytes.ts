import type { Socket } from "node:net";
import { ByteQueue } from "./byte-queue.ts";

/** Why the first bytes of a client did not come: it took too long, or has ended its side. */
export type NoFirstBytes = "late" | "left";

/**
 * Finds out what a client speaks from its first bytes, which can still be read after that: the socket is paused. `verdict` gets all
 * bytes so far, and returns undefined while they are too few. A client that takes longer than `withinMs` is disconnected, after `onNone`.
 */
export function readFirstBytes<Verdict>(
  socket: Socket,
  withinMs: number,
  verdict: (first: Buffer) => Verdict | undefined,
  then: (found: Verdict) => void,
  onNone: (why: NoFirstBytes) => void = () => {},
): void {
  const first = new ByteQueue();
  const timer = setTimeout(() => giveUp("late"), withinMs);
  const end = () => {
    clearTimeout(timer);
    socket.off("data", take);
    socket.off("close", end);
    socket.off("end", leave);
    socket.off("error", ignore);
  };
  const giveUp = (why: NoFirstBytes) => {
    end();
    onNone(why);
    socket.destroy();
  };
  const leave = () => giveUp("left");
  const take = (chunk: Buffer) => {
    first.push(chunk);
    const found = verdict(first.all());
    if (found === undefined) return;
    end();
    socket.pause();
    socket.unshift(first.all());
    then(found);
  };
  // "close" follows.
  const ignore = () => {};
  socket.on("data", take);
  socket.once("close", end);
  socket.once("end", leave);
  socket.on("error", ignore);
  // It is paused where these bytes were read before.
  socket.resume();
}
