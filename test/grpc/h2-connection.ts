/** The service's side of a connection of HTTP/2, without a network. */
import { Socket } from "node:net";
import { Http2Connection } from "../../servers/core/http2/http2-connection.ts";
import type { Http2Stream } from "../../servers/core/http2/http2-stream.ts";
import type { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { preface } from "./h2-frames.ts";
import { onEnd } from "./harness.ts";

interface Options {
  readonly turns: WorkTurns;
  readonly address?: string;
  readonly onStream?: (stream: Http2Stream) => void;
  /** The client reads nothing. */
  readonly isDeaf?: boolean;
}

/** What the client sends is given to `receive`. */
export function connectionOf({ turns, address = "10.0.0.1", onStream = () => {}, isDeaf = false }: Options) {
  const socket = new Socket();
  const state = {
    sent: [] as Buffer[],
    writes: 0,
    isReading: true,
    faults: [] as string[],
    errors: 0,
    held: 0,
    streams: [] as Http2Stream[],
    /** Of what is held, without what open streams are counted with. */
    get waiting(): number {
      return state.streams.reduce((left, { isClosed, heldBytes }) => (isClosed ? left : left - heldBytes), state.held);
    },
  };
  Object.assign(socket, {
    _handle: {
      readStart() {
        state.isReading = true;
        return 0;
      },
      readStop() {
        state.isReading = false;
        return 0;
      },
      close: (then: () => void) => setImmediate(then),
    },
    write(bytes: Buffer, done: () => void) {
      state.writes++;
      state.sent.push(bytes);
      if (!isDeaf) setImmediate(done);
      return true;
    },
    end(bytes: Buffer) {
      state.sent.push(bytes);
      return socket;
    },
  });
  const limits = { concurrentStreams: 256, headerListBytes: 512 << 10, handshakeMs: 60_000, keepaliveMs: 0, keepaliveTimeoutMs: 1_000 };
  const connection = new Http2Connection(socket, turns.connection(address), limits, {
    onStream(stream) {
      state.streams.push(stream);
      onStream(stream);
    },
    onRefused() {},
    onFault: (why) => void state.faults.push(why),
    onError: () => void state.errors++,
    onHeld(bytes) {
      state.held += bytes;
    },
  });
  socket.emit("data", preface);
  const close = () => socket.destroy();
  onEnd(close);
  return { socket, state, connection, close, receive: (bytes: Buffer) => void socket.emit("data", bytes) };
}
