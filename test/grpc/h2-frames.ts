/** Frames of HTTP/2 that are written by hand. */

export const frameTypes = {
  ...{ data: 0, headers: 1, priority: 2, rstStream: 3, settings: 4 },
  ...{ ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 },
} as const;
export const flags = { endStream: 1, ack: 1, endHeaders: 4 } as const;

export function h2Frame(type: number, flag: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(9 + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame[3] = type;
  frame[4] = flag;
  frame.writeUInt32BE(stream, 5);
  frame.set(payload, 9);
  return frame;
}

export const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), h2Frame(frameTypes.settings, 0, 0)]);

/** RFC 7541 §6.2.2: a literal that is not indexed; texts of up to 126 bytes. */
export const field = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([Buffer.byteLength(value)]), Buffer.from(value)]);

export const callFields = (path: string): Buffer =>
  Buffer.concat([
    field(":method", "POST"),
    field(":scheme", "http"),
    field(":path", path),
    field(":authority", "x"),
    field("content-type", "application/grpc"),
    field("te", "trailers"),
  ]);
