import { type AmfValue, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { messageType, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { type Attack, randomBytes, repeated, throwAt } from "./hostile-service.ts";

/** "RTMP 1.0": C0 and C1, and the same bytes as C2. */
const handshake = Buffer.concat([Buffer.from([3]), Buffer.alloc(1_536 * 2)]);

/** A chunk of RTMP with a whole header. */
function chunk(type: number, length: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head[0] = 3;
  head.writeUIntBE(length, 4, 3);
  head[7] = type;
  return Buffer.concat([head, bytes]);
}

const chunkSize = (bytes: number): Buffer => {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(bytes);
  return chunk(1, 4, value);
};

/** A command "publish" of AMF 0 whose name has a million slashes. */
const publishSlashes = ((): Buffer => {
  const slashes = Buffer.from(`a${"/".repeat(1 << 20)}x`);
  const head = Buffer.from([2, 0, 7, ...Buffer.from("publish"), 0, ...Buffer.alloc(8), 5, 12, 0, 0, 0, 0]);
  head.writeUInt32BE(slashes.length, head.length - 4);
  const message = Buffer.concat([head, slashes]);
  return chunk(20, message.length, message);
})();

/** The commands of a publisher. */
const publishing = (name: string): readonly Buffer[] =>
  [
    ["connect", 1, { app: "live" }],
    ["publish", 2, null, name, "live"],
  ].map((values) => writeMessage({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf(values as AmfValue[]) }));

/** What clients do to the port of RTMP. */
export const rtmpAttacks: Readonly<Record<string, Attack>> = {
  "chunks of one byte": (target) =>
    throwAt(
      target,
      8,
      Buffer.concat([handshake, chunkSize(1), chunk(9, 1 << 20, Buffer.from([0])), repeated(Buffer.from([0xc3, 0]), 1 << 19)]),
      "all",
    ),
  "small chunks of a large message": (target) =>
    throwAt(
      target,
      8,
      Buffer.concat([
        handshake,
        chunkSize(128),
        chunk(9, 1 << 20, Buffer.alloc(128)),
        repeated(Buffer.concat([Buffer.from([0xc3]), Buffer.alloc(128)]), (1 << 13) - 2),
      ]),
      "all",
    ),
  "a name of slashes": (target) => throwAt(target, 8, Buffer.concat([handshake, chunkSize(1 << 22), publishSlashes]), "all"),
  "50,000 messages of one byte, and of none": (target) =>
    Promise.all(
      [Buffer.alloc(0), Buffer.from([5])].map((payload) =>
        throwAt(
          target,
          1,
          Buffer.concat([
            handshake,
            ...publishing(`hostile ${target.random.below(2 ** 32)}`),
            chunk(18, payload.length, payload),
            repeated(Buffer.concat([Buffer.from([0xc3]), payload]), 50_000),
          ]),
          "all",
        ),
      ),
    ).then(() => {}),
  "random bytes": (target) => throwAt(target, 20, () => randomBytes(target, 5_000), "all"),
  "200 half handshakes": (target) => throwAt(target, 200, handshake.subarray(0, 700), "all"),
  "random chunks": (target) => throwAt(target, 20, () => Buffer.concat([handshake, randomBytes(target, 20_000)]), "all"),
  "40 messages without their last byte": (target) =>
    throwAt(
      target,
      40,
      () => {
        const name = `begun ${target.random.below(2 ** 32)}`;
        return Buffer.concat([handshake, ...publishing(name), chunkSize(0xff_ffff), chunk(9, 8 << 20, Buffer.alloc((8 << 20) - 1))]);
      },
      "all",
    ),
};
