import type { SseSubscriber } from "../../../contract/services/http.ts";
import type { HttpResponse } from "../../core/http/http-route.ts";
import type { HttpEntry } from "../../core/http/record/http-entry.ts";
import { PendingParts } from "../../core/traffic/pending-parts.ts";
import type { SseFrame } from "./sse-frame.ts";

/** Most unsent bytes of one subscriber; further events are dropped for it. */
const queuedBytes = 64 << 10;
/** Of what a client says where it goes on, in the view: the rest is in its row. */
const shownPosition = 100;

export interface SseSubscription {
  readonly id: number;
  /** The number of the first event from the page that is for it. */
  readonly since: number;
  readonly entry: HttpEntry | undefined;
  /** False if the event was dropped because the client reads too slowly. */
  send(frame: SseFrame): boolean;
  /** It would be dropped. */
  readonly isFull: boolean;
  /** Calls back once, when the client has taken what waits. */
  whenTaken(goOn: () => void): void;
  end(by: "server" | "done"): void;
  closed(): void;
  readonly closedAt: number | undefined;
  view(): SseSubscriber;
}

export function createSseSubscription(options: {
  id: number;
  since: number;
  response: HttpResponse;
  resumedFrom: string | undefined;
}): SseSubscription {
  const { id, since, response, resumedFrom } = options;
  const openedAt = Date.now();
  const head = response.entry?.head;
  let sent = 0;
  let skipped = 0;
  let lastEvent = "";
  let closedAt: number | undefined;
  let closedBy: SseSubscriber["closedBy"];

  function write(frame: SseFrame): void {
    const { entry } = response;
    if (entry) {
      entry.parts ??= new PendingParts();
      const { bodyLimit } = entry.head;
      // All subscribers share the frame; a view of it for each would be most of what a stream keeps.
      entry.parts.add(frame.plain.length <= bodyLimit ? frame.plain : frame.plain.subarray(0, bodyLimit), frame.plain.length);
    }
    response.writeChunk(frame.chunked, frame.plain);
  }
  const isFull = () => response.writableLength > queuedBytes;

  return {
    id,
    since,
    entry: response.entry,
    send(frame) {
      if (closedAt !== undefined || response.writableEnded) return false;
      if (isFull()) {
        skipped += 1;
        return false;
      }
      write(frame);
      sent += 1;
      lastEvent = frame.summary;
      return true;
    },
    get isFull() {
      return isFull();
    },
    // What waits for the client is more than the socket takes before its "drain".
    whenTaken: (goOn) => void response.socket?.once("drain", goOn),
    end(by) {
      closedBy ??= by;
      response.end();
    },
    closed() {
      closedAt ??= Date.now();
      closedBy ??= "client";
    },
    get closedAt() {
      return closedAt;
    },
    view: () => ({
      id,
      peer: head?.connection.remote ?? "",
      client: head?.client ?? "",
      openedAt,
      ...(closedAt !== undefined && { closedAt, closedBy: closedBy ?? "client" }),
      sent,
      skipped,
      lastEvent,
      ...(resumedFrom !== undefined && { resumedFrom: resumedFrom.slice(0, shownPosition) }),
    }),
  };
}
