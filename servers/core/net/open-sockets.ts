import type { Server, Socket } from "node:net";
import { rateLimitKey } from "../limits/rate-limit-client.ts";
import { RecentUse } from "../turns/recent-use.ts";
import { shareMs, type WorkConnection } from "../turns/work-connection.ts";
import type { WorkTurns } from "../turns/work-turns.ts";
import { closeInTurns } from "./close-in-turns.ts";
import { guardConnections } from "./guard-connections.ts";
import { type Placed, ProcessPlaces, type ServicePlaces, type SocketPlaces } from "./process-places.ts";
import { holdableReading } from "./socket-reading.ts";
import { tlsTransportOf } from "./tls-transport.ts";

/** So many bytes that were read count as much as a millisecond of work: they are work for all, also where nobody measures it. */
const bytesOfMs = 64 << 10;

/** A connection that a listener of this process has accepted, with or without TLS. */
export class OpenSocket {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
  readonly #socket: Socket;
  readonly #works: WorkConnection[] = [];
  readonly holdReading: (isHeld: boolean) => void;
  /** Ends the connection; its row says why, where it has one. */
  end: (why: string) => void;
  /** Its place among the connections of the process is free from then on. */
  leave: () => void = () => {};
  #readAtLook = 0;
  /** Bytes. */
  readonly #read = new RecentUse();

  constructor(socket: Socket) {
    this.key = rateLimitKey(socket.remoteAddress ?? "");
    this.#socket = socket;
    this.holdReading = holdableReading(socket);
    this.end = () => socket.destroy();
  }

  /** Its part in the turns of all: of TLS, and of what is in it. */
  uses(work: WorkConnection): void {
    this.#works.push(work);
  }

  /** To be called at intervals, before the other questions. */
  look(): void {
    const { bytesRead } = this.#socket;
    this.#read.add(bytesRead - this.#readAtLook, performance.now());
    this.#readAtLook = bytesRead;
  }

  /** What it has used lately: milliseconds, with what was read counted as time. */
  get used(): number {
    return this.#works.reduce((sum, { usedMs }) => sum + usedMs, this.#read.at(performance.now()) / bytesOfMs);
  }

  get unansweredBytes(): number {
    const { bytesRead, bytesWritten } = this.#socket;
    return Math.max(0, bytesRead - bytesWritten);
  }

  /** It has little to do, or nothing. */
  get isCalm(): boolean {
    return this.used < shareMs || (this.#works.length > 0 && this.#works.every(({ isCalm, usedMs }) => isCalm || usedMs < shareMs));
  }
}

/** Of this thread, and of the process, as its memory is: every listener adds what it accepts. */
const open = new Map<Socket, OpenSocket>();

export const openSockets = (): Iterable<OpenSocket> => open.values();

/** How many they are: another thread reads it. */
export const openCount = new Int32Array(new SharedArrayBuffer(4));
/** What else is told so. */
let countedIn: Int32Array | undefined;
/** Those of other threads. */
const otherThreads = new Set<Int32Array>();

function count(): void {
  Atomics.store(openCount, 0, open.size);
  if (countedIn) Atomics.store(countedIn, 0, open.size);
}

/** In a thread beside the main one. */
export function countOpenIn(counter: Int32Array): void {
  countedIn = counter;
  count();
}

/** The sockets that it counts are open too, until the result is called. */
export function withOtherThread(counter: Int32Array): () => void {
  otherThreads.add(counter);
  return () => otherThreads.delete(counter);
}

let bound: SocketPlaces | undefined;

/** Those of the process that has a bound. */
export const processPlaces = (): ProcessPlaces | undefined => (bound instanceof ProcessPlaces ? bound : undefined);

/** Decides of connections from now on. The result ends that. */
export function placeOpenSockets(places: SocketPlaces): () => void {
  bound = places;
  return () => {
    bound = undefined;
  };
}

/** Of all listeners together. Of more, those of the address that has most are closed, else the new ones, of which `onRefused` is told. */
export const boundOpenSockets = (most: number, onRefused: () => void): (() => void) =>
  placeOpenSockets(new ProcessPlaces(most, onRefused, () => [...otherThreads].reduce((sum, counter) => sum + Atomics.load(counter, 0), 0)));

/** To be called with each server that listens for clients. Nobody gives way to what its service refuses, now or, where it counts after a handshake, then. */
export function addOpenSockets(server: Server, ofService?: ServicePlaces): void {
  guardConnections(
    server,
    (socket) => {
      const { remoteAddress = "" } = socket;
      if (bound && !bound.admits(remoteAddress, open.size, ofService)) {
        socket.destroy();
        return false;
      }
      open.set(socket, new OpenSocket(socket));
      count();
      socket.once("close", () => {
        open.delete(socket);
        count();
      });
      return true;
    },
    (socket) => {
      const opened = open.get(socket);
      const places = bound;
      if (!places || !opened || socket.destroyed) return;
      const placed: Placed = { end: (why) => endConnection(socket, why) };
      places.take(socket.remoteAddress ?? "", placed);
      opened.leave = () => places.remove(placed);
      socket.once("close", opened.leave);
    },
  );
}

/** Of the socket of a connection, or of its TLS. */
const openSocketOf = (socket: Socket): OpenSocket | undefined => open.get(tlsTransportOf(socket)?.socket ?? socket);

/** With this reason in its row, where it has one. */
export function endConnection(socket: Socket, why: string): void {
  const opened = openSocketOf(socket);
  opened?.leave();
  if (opened) opened.end(why);
  else socket.destroy();
}

/** `end` is how to end the connection so that its row says why. */
export function endsBy(socket: Socket, end: (why: string) => void): void {
  const opened = openSocketOf(socket);
  if (opened) opened.end = end;
}

/** Of a socket that was accepted: what is on it now has a part of its own. */
export const usesTurns = (socket: Socket, work: WorkConnection): void => openSocketOf(socket)?.uses(work);

/** The part in the turns of all of a connection that was just accepted, or of what is in its TLS. It is closed in these turns. */
export function takeSocket(socket: Socket, turns: WorkTurns): WorkConnection {
  const work = turns.accepted(socket.remoteAddress ?? "");
  usesTurns(socket, work);
  closeInTurns(socket, work);
  return work;
}
