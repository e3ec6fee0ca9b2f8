/** WebSocket frames that break RFC 6455, or that MQTT does not allow, and the close code that each deserves. */
export interface HostileFrames {
  readonly name: string;
  readonly bytes: Buffer;
  readonly closeCode: number;
}

const mask = Buffer.from([1, 2, 3, 4]);
const masked = (payload: Buffer) => Buffer.concat([mask, payload.map((byte, index) => byte ^ (mask[index % 4] as number))]);
/** A client's frame of up to 125 bytes; the first byte is FIN, the reserved bits and the opcode. */
const frame = (firstByte: number, payload: Buffer = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.from([firstByte, 0x80 | payload.length]), masked(payload)]);
export const closing = (code: number, reason = Buffer.alloc(0)) =>
  frame(0x88, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), reason]));
const ping = Buffer.from("c000", "hex");

export const hostileFrames: readonly HostileFrames[] = [
  { name: "a frame without a mask", bytes: Buffer.concat([Buffer.from([0x82, ping.length]), ping]), closeCode: 1002 },
  { name: "a reserved bit", bytes: frame(0xc2, ping), closeCode: 1002 },
  { name: "another reserved bit", bytes: frame(0xa2, ping), closeCode: 1002 },
  { name: "the third reserved bit", bytes: frame(0x92, ping), closeCode: 1002 },
  ...[0x83, 0x87, 0x8b, 0x8f].map((first) => ({
    name: `opcode ${first & 15}, which there is not`,
    bytes: frame(first, ping),
    closeCode: 1002,
  })),
  { name: "a ping in parts", bytes: frame(0x09, ping), closeCode: 1002 },
  { name: "a ping of 126 bytes", bytes: Buffer.concat([Buffer.from("89fe007e", "hex"), masked(Buffer.alloc(126))]), closeCode: 1002 },
  { name: "a part that continues nothing", bytes: frame(0x80, ping), closeCode: 1002 },
  { name: "a message within another's parts", bytes: Buffer.concat([frame(0x02, ping), frame(0x82, ping)]), closeCode: 1002 },
  { name: "a close of one byte", bytes: frame(0x88, Buffer.from([3])), closeCode: 1002 },
  ...[0, 999, 1005, 1006, 1015].map((code) => ({ name: `a close with code ${code}`, bytes: closing(code), closeCode: 1002 })),
  { name: "a close whose reason is not UTF-8", bytes: closing(1000, Buffer.from([0xc3, 0x28])), closeCode: 1007 },
  { name: "a frame above the maximum", bytes: Buffer.from("82ff0000000100000000", "hex"), closeCode: 1009 },
  { name: "a frame of more than 2^53 bytes", bytes: Buffer.from("82ff7fffffffffffffff", "hex"), closeCode: 1009 },
  { name: "a text frame", bytes: frame(0x81, Buffer.from("hello")), closeCode: 1003 },
  { name: "an empty text frame", bytes: frame(0x81), closeCode: 1003 },
  { name: "a text in parts", bytes: Buffer.concat([frame(0x01, Buffer.from("hel")), frame(0x80, Buffer.from("lo"))]), closeCode: 1003 },
];
