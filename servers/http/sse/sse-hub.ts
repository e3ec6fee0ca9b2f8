import type { HttpViews } from "../../../contract/services/http.ts";
import type { HttpResponse } from "../../core/http/http-route.ts";
import type { HttpEntry } from "../../core/http/record/http-entry.ts";
import type { Log } from "../../core/service/log.ts";
import { BroadcastLane, BroadcastMemory } from "../../core/streams/broadcast-lane.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { pingFrame, type SseEvent, type SseFrame, sseFrame } from "./sse-frame.ts";
import { createSseSubscription, type SseSubscription } from "./sse-subscription.ts";
import { createSseTickers } from "./sse-tickers.ts";

/** Disconnected subscribers that stay listed: how long, and how many. */
const listedAfter = { ms: 60_000, most: 200 };
/** The view has so many that are connected, the newest: a client may open thousands. */
const listedOpen = 200;
/** How often rows of open streams are serialized, and how many at once: there may be thousands of streams that send often. */
const rowUpdates = { everyMs: 1_000, atOnce: 200 };
/** Up to this number each new subscriber is logged as notable. */
const notedSubscribers = 20;

export interface SsePlan {
  readonly firstId: number;
  /** Ids run up to, but not including, this one; Infinity until the client leaves. */
  readonly endId: number;
  readonly intervalMs: number;
  readonly delayMs: number;
  readonly resumedFrom: string | undefined;
}

/** An event from the page. */
interface Broadcast {
  readonly frame: SseFrame;
  /** How many subscribers have it. */
  reached: number;
}

export interface SseHub {
  readonly open: number;
  /** To be called when the response's head is set and not sent yet. */
  subscribe(response: HttpResponse, plan: SsePlan): void;
  /** Sends to every subscriber; resolves with how many it reached. */
  broadcast(event: SseEvent): Promise<number>;
  disconnect(id: number): boolean;
  close(): void;
}

export interface SseHubOptions {
  readonly show: (view: HttpViews["sse"]) => void;
  readonly touch: (entry: HttpEntry) => void;
  readonly log: Log;
  /** Of all clients of the service. */
  readonly turns: WorkTurns;
}

export function createSseHub({ turns, ...options }: SseHubOptions): SseHub {
  const open = new Map<number, SseSubscription>();
  /** Times are those of `performance.now`: the computer's clock may be set. */
  const left: { readonly subscription: SseSubscription; readonly leftAt: number }[] = [];
  const tickers = createSseTickers();
  const page = turns.connection("");
  /** By the address: streams go on by themselves, and all of one address come behind what others ask for. */
  const works = new Map<string, { readonly work: WorkConnection; readonly streams: number }>();
  const broadcasts = new BroadcastLane<SseSubscription, Broadcast>({
    memory: new BroadcastMemory(),
    receivers: () => open.values(),
    deliver(subscription, broadcast, number) {
      if (number >= subscription.since && send(subscription, broadcast.frame)) broadcast.reached += 1;
    },
    bytesOf: ({ frame }) => frame.chunked.length,
  });
  let nextId = 1;
  let eventsSent = 0;
  let viewTimer: NodeJS.Timeout | undefined;
  let forgetTimer: NodeJS.Timeout | undefined;
  /** Streams whose rows are out of date, the longest waiting first. */
  const stale = new Set<HttpEntry>();
  let rowsTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let frameTime = 0;
  const frames = new Map<number, SseFrame>();

  /** Subscribers at the same position share a frame. */
  function pingOf(id: number, timestamp: number): SseFrame {
    if (timestamp !== frameTime) {
      frames.clear();
      frameTime = timestamp;
    }
    let frame = frames.get(id);
    if (!frame) {
      frame = pingFrame(id, timestamp);
      frames.set(id, frame);
    }
    return frame;
  }

  function send(subscription: SseSubscription, frame: SseFrame): boolean {
    const sent = subscription.send(frame);
    if (sent) {
      eventsSent += 1;
      if (subscription.entry) stale.add(subscription.entry);
      if (!closed) rowsTimer ??= setTimeout(touchRows, rowUpdates.everyMs);
    }
    changed();
    return sent;
  }

  function touchRows(): void {
    let touched = 0;
    for (const entry of stale) {
      stale.delete(entry);
      if (entry.ended) continue;
      options.touch(entry);
      if (++touched === rowUpdates.atOnce) break;
    }
    rowsTimer = stale.size > 0 ? setTimeout(touchRows, rowUpdates.everyMs) : undefined;
  }

  function changed(): void {
    // A thousand subscribers make a large view: the more there are, the less often it is sent.
    if (!closed) viewTimer ??= setTimeout(show, Math.max(200, open.size));
  }

  function show(): void {
    viewTimer = undefined;
    const listed = [...[...open.values()].slice(-listedOpen), ...left.map(({ subscription }) => subscription).reverse()];
    options.show({ subscribers: listed.map((one) => one.view()), open: open.size, eventsSent });
  }

  function forgetOld(): void {
    forgetTimer = undefined;
    const before = performance.now() - listedAfter.ms;
    while (left[0] && left[0].leftAt <= before) left.shift();
    if (left[0]) forgetTimer = setTimeout(forgetOld, left[0].leftAt - before);
    changed();
  }

  function onClosed(subscription: SseSubscription): void {
    subscription.closed();
    open.delete(subscription.id);
    if (subscription.entry) stale.delete(subscription.entry);
    if (closed) return;
    left.push({ subscription, leftAt: performance.now() });
    if (left.length > listedAfter.most) left.shift();
    forgetTimer ??= setTimeout(forgetOld, listedAfter.ms);
    changed();
  }

  /** For the streams of the address. */
  function takeWork(address: string): { readonly work: WorkConnection; readonly giveBack: () => void } {
    const { work, streams } = works.get(address) ?? { work: turns.background(address), streams: 0 };
    works.set(address, { work, streams: streams + 1 });
    const giveBack = () => {
      const left = (works.get(address)?.streams ?? 0) - 1;
      if (left > 0) works.set(address, { work, streams: left });
      else works.delete(address);
    };
    return { work, giveBack };
  }

  /** Sends the plan's events; returns the function that stops it. */
  function run(subscription: SseSubscription, plan: SsePlan, address: string): () => void {
    let id = plan.firstId;
    const isEndless = plan.endId === Number.POSITIVE_INFINITY;
    let timer: NodeJS.Timeout | undefined;
    let leave = () => clearTimeout(timer);
    let isOver = false;
    const next = (timestamp: number) => void send(subscription, pingOf(id++, timestamp));
    const { work, giveBack } = takeWork(address);

    function beginEndless(): void {
      const begunAt = performance.now();
      next(Date.now());
      leave = tickers.join(plan.intervalMs, work, (timestamp) => {
        // The shared timer may fire right after the first event.
        if (performance.now() - begunAt >= plan.intervalMs / 2) next(timestamp);
      });
    }
    const startAt = performance.now() + plan.delayMs;
    const untilDue = () => startAt + (id - plan.firstId) * plan.intervalMs - performance.now();
    function beginFinite(): void {
      const share = work.join(sendDue);
      function sendDue(): void {
        while (!isOver) {
          const waitMs = id < plan.endId ? untilDue() : 0;
          if (waitMs > 0) {
            timer = setTimeout(sendDue, waitMs);
            return;
          }
          if (share.isOver) {
            share.later();
            return;
          }
          if (subscription.isFull) {
            subscription.whenTaken(sendDue);
            return;
          }
          if (id < plan.endId) next(Date.now());
          else {
            isOver = true;
            subscription.end("done");
          }
        }
      }
      sendDue();
    }
    const begin = isEndless ? beginEndless : beginFinite;
    if (plan.delayMs > 0) timer = setTimeout(begin, plan.delayMs);
    else begin();
    return () => {
      isOver = true;
      leave();
      giveBack();
    };
  }

  return {
    get open() {
      return open.size;
    },
    subscribe(response, plan) {
      const subscription = createSseSubscription({ id: nextId++, since: broadcasts.sent, response, resumedFrom: plan.resumedFrom });
      open.set(subscription.id, subscription);
      if (response.entry) response.entry.longLived = true;
      response.flushHeaders();
      const stop = run(subscription, plan, response.req.socket.remoteAddress ?? "");
      response.once("close", () => {
        stop();
        onClosed(subscription);
      });
      const { client, peer } = subscription.view();
      options.log[open.size <= notedSubscribers ? "notable" : "debug"](`New SSE subscriber ${peer} (${client})`);
      changed();
    },
    async broadcast(event) {
      const broadcast: Broadcast = { frame: sseFrame(event), reached: 0 };
      await broadcasts.send(broadcast, page);
      return broadcast.reached;
    },
    disconnect(id) {
      const subscription = open.get(id);
      subscription?.end("server");
      return subscription !== undefined;
    },
    close() {
      closed = true;
      clearTimeout(viewTimer);
      clearTimeout(forgetTimer);
      clearTimeout(rowsTimer);
      for (const subscription of open.values()) subscription.end("server");
      tickers.close();
    },
  };
}
