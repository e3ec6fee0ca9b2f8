import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { type Client, type ClientDuplexStream, type Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type { GrpcTried, GrpcTryMessage, GrpcTryStart } from "../../../contract/services/grpc.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";
import { statusName } from "../engine/status.ts";
import type { ServedMethods } from "../services/served-methods.ts";
import { asIs, headerList, metadataOf, type OwnClientOptions, openClient } from "./own-client.ts";

export interface GrpcTryOptions extends OwnClientOptions {
  readonly served: () => ServedMethods;
  readonly show: (view: GrpcTried) => void;
}

/** The client of the Try tab: one call at a time, over loopback. */
export interface GrpcTryClient {
  start(params: GrpcTryStart): Promise<null>;
  send(json: string): null;
  halfClose(): null;
  cancel(): null;
  /** Cancels the call with this reason. Whether there was one. */
  leave(why: string): boolean;
  /** The newest messages of the call, in both directions, newest first. */
  messages(limit: number): readonly GrpcTryMessage[];
  stop(): void;
}

/** Older messages are dropped. */
const keptMessages = 500;
/** Of each message, for the page. */
const keptBytes = 64 << 10;
/** Of one answer to the page. */
const answeredBytes = 1 << 20;

interface KeptMessage extends Omit<GrpcTryMessage, "base64"> {
  readonly start: Buffer;
}

const wrong = (message: string, hint: string) => new ServiceError("CALL_INVALID", message, hint);
interface OpenCall {
  readonly stream: ClientDuplexStream<Buffer, Buffer>;
  readonly client: Client;
  readonly inputType: string;
  readonly takesMore: boolean;
}

export function createGrpcTryClient({ port, channel, served, show }: GrpcTryOptions): GrpcTryClient {
  let open: OpenCall | undefined;
  let state: GrpcTried = { state: "untried" };
  let kept: KeptMessage[] = [];
  let calls = 0;
  let isStopped = false;

  const set = (next: GrpcTried) => {
    state = next;
    show(next);
  };
  const change = (part: Partial<Extract<GrpcTried, { readonly state: "open" }>>) => {
    if (state.state === "open") set({ ...state, ...part });
  };

  function serialized(typeName: string, json: string): Buffer {
    const { registry } = served().pool;
    const type = registry.getMessage(typeName);
    if (!type) throw wrong(`There is no type ${typeName}`, "Choose a method that is served.");
    try {
      return Buffer.from(toBinary(type, fromJson(type, JSON.parse(json) as JsonValue, { registry })));
    } catch (error) {
      throw wrong(
        `The message is not valid JSON of ${typeName}: ${errorText(error)}`,
        "Change the message; a new one can be made from the type.",
      );
    }
  }

  function keep(direction: GrpcTryMessage["direction"], typeName: string, bytes: Buffer): void {
    if (state.state !== "open") return;
    const place = state.sent + state.received;
    // A copy: a part of the buffer would keep all of it in memory.
    const start = bytes.length > keptBytes ? Buffer.from(bytes.subarray(0, keptBytes)) : bytes;
    kept.push({ place, direction, typeName, atMs: Date.now() - state.at, bytes: bytes.length, start });
    if (kept.length >= 2 * keptMessages) kept = kept.slice(-keptMessages);
    change(direction === "sent" ? { sent: state.sent + 1 } : { received: state.received + 1 });
  }

  function write(call: OpenCall, bytes: Buffer): void {
    call.stream.write(bytes);
    keep("sent", call.inputType, bytes);
  }

  function current(): OpenCall {
    if (!open) throw wrong("No call is open", "Start a call first.");
    return open;
  }

  function end(call: OpenCall, { code, details, metadata }: StatusObject): void {
    call.client.close();
    if (open !== call || state.state !== "open") return;
    open = undefined;
    const shown = { code, name: statusName(code), message: details };
    set({ ...state, state: "ended", status: shown, trailers: headerList(metadata), tookMs: Date.now() - state.at });
  }

  show(state);
  return {
    async start({ path, json, metadata, deadlineMs }) {
      if (open) throw wrong("A call is open", "Cancel it, or wait for its end.");
      const { view, revision } = served();
      const found = view.flatMap(({ methods }) => methods).find((method) => method.path === path);
      if (!found) throw wrong(`${path} is not served`, "Choose a method that is served.");
      const first = json === undefined ? undefined : serialized(found.requestType, json);
      const sent = metadataOf(metadata);
      const turn = ++calls;
      const client = await openClient({ port, channel }, "try");
      if (turn !== calls || isStopped) {
        client.close();
        throw wrong("Another call was started", "Try again.");
      }
      const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
      const stream = client.makeBidiStreamRequest(path, asIs, asIs, sent, options);
      const takesMore = found.pattern === "client stream" || found.pattern === "bidi stream";
      const call: OpenCall = { stream, client, inputType: found.requestType, takesMore };
      open = call;
      kept = [];
      set({
        state: "open",
        path,
        revision,
        at: Date.now(),
        sent: 0,
        received: 0,
        halfClosed: false,
        ...(deadlineMs !== undefined && { deadlineMs }),
      });
      stream.on("metadata", (headers: Metadata) => open === call && change({ headers: headerList(headers) }));
      stream.on("data", (bytes: Buffer) => open === call && keep("received", found.responseType, bytes));
      // The status has the reason.
      stream.on("error", () => {});
      stream.on("status", (ended: StatusObject) => end(call, ended));
      if (first) write(call, first);
      if (!takesMore) this.halfClose();
      return null;
    },
    send(json) {
      const call = current();
      if (state.state === "open" && state.halfClosed) throw wrong("The client has ended its messages", "Start a new call.");
      write(call, serialized(call.inputType, json));
      return null;
    },
    halfClose() {
      current().stream.end();
      change({ halfClosed: true });
      return null;
    },
    cancel() {
      current().stream.cancel();
      return null;
    },
    leave(why) {
      open?.stream.call?.cancelWithStatus(status.CANCELLED, why);
      return open !== undefined;
    },
    messages(limit) {
      let left = answeredBytes;
      const newest: GrpcTryMessage[] = [];
      for (const { start, ...message } of kept.slice(-Math.min(limit, keptMessages)).reverse()) {
        left -= start.length;
        // The newest one is always included, however long it is.
        if (left < 0 && newest.length > 0) break;
        newest.push({ ...message, base64: start.toString("base64") });
      }
      return newest;
    },
    stop() {
      isStopped = true;
      open?.stream.cancel();
      open?.client.close();
      open = undefined;
    },
  };
}
