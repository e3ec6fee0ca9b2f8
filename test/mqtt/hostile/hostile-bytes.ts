/** Byte sequences that break the standard, and what each deserves. */
import { propertyRows } from "../../../servers/mqtt/codec/properties.ts";
import type { Version } from "../harness.ts";

export interface Hostile {
  readonly name: string;
  readonly version: Version;
  /** Sent after a good CONNECT, or instead of one. */
  readonly when: "first" | "connected";
  readonly bytes: Buffer;
  /** Reason code of the DISCONNECT, or of the CONNACK, that 5.0 gets; 3.1.1 gets the close alone. */
  readonly reason: number | "close";
}

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ""), "hex");
const field = (value: string | Buffer) => {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
};
/** With the right remaining length (below 128 bytes, or up to 16,383). */
function packet(firstByte: number, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? hex(part) : part)));
  const length = body.length < 128 ? [body.length] : [(body.length & 127) | 128, body.length >> 7];
  return Buffer.concat([Buffer.from([firstByte, ...length]), body]);
}

const both = [4, 5] as const;
const none = (version: Version) => (version === 5 ? "00" : "");
const connected = (version: Version, name: string, reason: Hostile["reason"], bytes: Buffer): Hostile => ({
  name,
  version,
  when: "connected",
  reason: version === 5 ? reason : "close",
  bytes,
});
const first = (version: Version, name: string, reason: Hostile["reason"], bytes: Buffer): Hostile => ({
  name,
  version,
  when: "first",
  reason: version === 5 ? reason : "close",
  bytes,
});

const head = (version: Version, flags: string) => Buffer.concat([field("MQTT"), hex(`0${version}${flags}003c${none(version)}`)]);

const badStrings: readonly (readonly [name: string, bytes: Buffer])[] = [
  ["U+0000", hex("746f700000")],
  ["a surrogate", hex("746feda080")],
  ["an overlong encoding", hex("746fc0af70")],
  ["a cut character", hex("746f70e282")],
  ["a lone continuation byte", hex("8074706963")],
  ["a character above U+10FFFF", hex("f490808074")],
  ["U+0001", hex("746f700170")],
  ["U+009F", hex("746fc29f70")],
  ["U+FFFF", hex("746fefbfbf")],
];

const wrongFlags = [
  ["CONNACK-like", 0x10, 0x11],
  ["PUBACK", 0x40, 0x41],
  ["PUBREC", 0x50, 0x52],
  ["PUBREL without its bit", 0x60, 0x60],
  ["PUBREL with all bits", 0x60, 0x6f],
  ["PUBCOMP", 0x70, 0x71],
  ["SUBSCRIBE without its bit", 0x80, 0x80],
  ["SUBSCRIBE with all bits", 0x80, 0x8f],
  ["UNSUBSCRIBE without its bit", 0xa0, 0xa0],
  ["PINGREQ", 0xc0, 0xc1],
  ["DISCONNECT", 0xe0, 0xe8],
] as const;

function framing(version: Version): Hostile[] {
  return [
    connected(version, "packet type 0", 0x81, hex("0000")),
    connected(version, "packet type 0 with flags", 0x81, hex("0f00")),
    connected(version, "a remaining length of five bytes", 0x81, hex("30 ffffffff01")),
    connected(version, "a remaining length of five bytes, all continued", 0x81, hex("c0 8080808080")),
    connected(version, "a packet of 256 MB", 0x95, hex("30 ffffff7f")),
    connected(version, "a packet above the maximum", 0x95, hex("30 818040")),
    connected(version, "a second CONNECT", 0x82, packet(0x10, head(version, "02"), field("x"))),
    ...wrongFlags.map(([name, , firstByte]) => connected(version, `wrong flags: ${name}`, 0x81, packet(firstByte, "0001"))),
    ...([0x20, 0x90, 0xb0, 0xd0] as const).map((firstByte) =>
      connected(
        version,
        `a packet that only servers send, 0x${firstByte.toString(16)}`,
        0x82,
        packet(
          firstByte,
          firstByte === 0xd0
            ? ""
            : firstByte === 0x20
              ? `0000${none(version)}`
              : `0001${none(version)}${firstByte === 0xb0 && version === 4 ? "" : "00"}`,
        ),
      ),
    ),
    connected(version, "PINGREQ with a body", 0x81, packet(0xc0, "00")),
  ];
}

function publishing(version: Version): Hostile[] {
  const properties = none(version);
  return [
    connected(version, "QoS 3", 0x81, packet(0x36, field("t"), "0001", properties)),
    connected(version, "QoS 3 with DUP and retain", 0x81, packet(0x3f, field("t"), "0001", properties)),
    connected(version, "DUP with QoS 0", 0x81, packet(0x38, field("t"), properties)),
    connected(version, "packet identifier 0, QoS 1", 0x82, packet(0x32, field("t"), "0000", properties)),
    connected(version, "packet identifier 0, QoS 2", 0x82, packet(0x34, field("t"), "0000", properties)),
    connected(version, "no packet identifier", 0x81, packet(0x32, field("t"))),
    connected(version, "half a packet identifier", 0x81, packet(0x32, field("t"), "01")),
    connected(version, "a topic with +", 0x81, packet(0x30, field("a/+"), properties)),
    connected(version, "a topic with #", 0x81, packet(0x30, field("#"), properties)),
    connected(version, "a topic with + inside a level", 0x81, packet(0x30, field("a+b"), properties)),
    connected(version, "an empty topic", 0x82, packet(0x30, field(""), properties)),
    connected(version, "an empty body", 0x81, packet(0x30)),
    connected(version, "a topic longer than the packet", 0x81, packet(0x30, "00ff 61")),
    connected(version, "a topic length cut off", 0x81, packet(0x30, "00")),
    ...badStrings.map(([name, bytes]) => connected(version, `a topic with ${name}`, 0x81, packet(0x30, field(bytes), properties))),
  ];
}

function acknowledging(version: Version): Hostile[] {
  return ([0x40, 0x50, 0x62, 0x70] as const).flatMap((firstByte) => {
    const name = { 64: "PUBACK", 80: "PUBREC", 98: "PUBREL", 112: "PUBCOMP" }[firstByte];
    return [
      connected(version, `${name} with identifier 0`, 0x82, packet(firstByte, "0000")),
      connected(version, `${name} without a body`, 0x81, packet(firstByte)),
      connected(version, `${name} with half an identifier`, 0x81, packet(firstByte, "01")),
      version === 4
        ? connected(version, `${name} that is too long`, "close", packet(firstByte, "000100"))
        : connected(version, `${name} with a reason that it does not have`, 0x82, packet(firstByte, "0001ff")),
      version === 4
        ? connected(version, `${name} that is much too long`, "close", packet(firstByte, "00010000000000"))
        : connected(version, `${name} with bytes behind its properties`, 0x81, packet(firstByte, "00010000 00")),
    ];
  });
}

function subscribing(version: Version): Hostile[] {
  const properties = none(version);
  const filter = (value: string | Buffer, options = "00") => Buffer.concat([field(value), hex(options)]);
  return [
    connected(version, "SUBSCRIBE with identifier 0", 0x82, packet(0x82, "0000", properties, filter("a"))),
    connected(version, "SUBSCRIBE without a filter", 0x82, packet(0x82, "0001", properties)),
    connected(version, "SUBSCRIBE without a body", 0x81, packet(0x82)),
    connected(version, "SUBSCRIBE without options", 0x81, packet(0x82, "0001", properties, field("a"))),
    connected(version, "SUBSCRIBE with QoS 3", 0x82, packet(0x82, "0001", properties, filter("a", "03"))),
    connected(version, "SUBSCRIBE with reserved bits", 0x81, packet(0x82, "0001", properties, filter("a", "40"))),
    connected(version, "SUBSCRIBE with more reserved bits", 0x81, packet(0x82, "0001", properties, filter("a", "80"))),
    connected(version, "SUBSCRIBE to an empty filter", 0x81, packet(0x82, "0001", properties, filter(""))),
    connected(version, "SUBSCRIBE to a good and an empty filter", 0x81, packet(0x82, "0001", properties, filter("a"), filter(""))),
    ...["a#", "#/a", "a/#/b", "a+", "+a", "a/b+", "##", "++"].map((wrong) =>
      connected(version, `SUBSCRIBE to ${wrong}`, 0x81, packet(0x82, "0001", properties, filter(wrong))),
    ),
    ...badStrings.map(([name, bytes]) =>
      connected(version, `SUBSCRIBE to a filter with ${name}`, 0x81, packet(0x82, "0001", properties, filter(bytes))),
    ),
    connected(version, "UNSUBSCRIBE with identifier 0", 0x82, packet(0xa2, "0000", properties, field("a"))),
    connected(version, "UNSUBSCRIBE without a filter", 0x82, packet(0xa2, "0001", properties)),
    connected(version, "UNSUBSCRIBE without a body", 0x81, packet(0xa2)),
    connected(version, "UNSUBSCRIBE from a wrong filter", 0x81, packet(0xa2, "0001", properties, field("a/#/b"))),
    connected(version, "UNSUBSCRIBE with a cut filter", 0x81, packet(0xa2, "0001", properties, "0005 61")),
  ];
}

function connecting(version: Version): Hostile[] {
  const good = head(version, "02");
  return [
    first(version, "SUBSCRIBE before CONNECT", "close", packet(0x82, "0001", none(version), field("a"), "00")),
    first(version, "PUBLISH before CONNECT", "close", packet(0x30, field("t"), none(version))),
    first(version, "PINGREQ before CONNECT", "close", packet(0xc0)),
    first(version, "DISCONNECT before CONNECT", "close", packet(0xe0)),
    first(version, "text", "close", Buffer.from("hello there\r\n")),
    first(version, "an HTTP request", "close", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")),
    first(version, "a TLS hello", "close", hex("1603010200010001fc0303")),
    first(version, "CONNECT with flags in its header", "close", packet(0x11, good, field("x"))),
    first(version, "CONNECT without a body", "close", packet(0x10)),
    first(version, "a protocol name of one letter less", "close", packet(0x10, field("MQT"), hex(`0${version}02003c`), field("x"))),
    first(version, "a protocol name in small letters", "close", packet(0x10, field("mqtt"), hex(`0${version}02003c`), field("x"))),
    first(version, "an empty protocol name", "close", packet(0x10, field(""), hex(`0${version}02003c`), field("x"))),
    first(version, "the reserved connect flag", 0x81, packet(0x10, head(version, "03"), field("x"))),
    first(version, "will QoS 1 without a will", 0x81, packet(0x10, head(version, "0a"), field("x"))),
    first(version, "will retain without a will", 0x81, packet(0x10, head(version, "22"), field("x"))),
    first(version, "will QoS 3", 0x81, packet(0x10, head(version, "1e"), field("x"), none(version), field("t"), field("m"))),
    first(version, "a will that is missing", 0x81, packet(0x10, head(version, "06"), field("x"))),
    first(
      version,
      "a will topic with wildcards",
      0x81,
      packet(0x10, head(version, "06"), field("x"), none(version), field("a/#"), field("m")),
    ),
    first(version, "an empty will topic", 0x82, packet(0x10, head(version, "06"), field("x"), none(version), field(""), field("m"))),
    first(version, "a user name that is missing", 0x81, packet(0x10, head(version, "82"), field("x"))),
    first(version, "a password that is missing", 0x81, packet(0x10, head(version, "c2"), field("x"), field("u"))),
    ...(version === 4
      ? [first(version, "a password without a user name", "close", packet(0x10, head(version, "42"), field("x"), field("p")))]
      : []),
    first(version, "bytes behind the payload", 0x81, packet(0x10, good, field("x"), "00")),
    first(version, "no client identifier", 0x81, packet(0x10, good)),
    ...badStrings.map(([name, bytes]) => first(version, `a client identifier with ${name}`, 0x81, packet(0x10, good, field(bytes)))),
    ...badStrings.flatMap(([name, bytes]) => [
      first(
        version,
        `a will topic with ${name}`,
        0x81,
        packet(0x10, head(version, "06"), field("x"), none(version), field(bytes), field("m")),
      ),
      first(version, `a user name with ${name}`, 0x81, packet(0x10, head(version, "82"), field("x"), field(bytes))),
      connected(version, `UNSUBSCRIBE from a filter with ${name}`, 0x81, packet(0xa2, "0001", none(version), field(bytes))),
    ]),
    first(version, "CONNECT above the maximum", "close", hex("10 ffffff7f")),
  ];
}

const sampleValues: Readonly<Record<string, string>> = {
  bit: "01",
  byte: "01",
  twoBytes: "0001",
  fourBytes: "00000001",
  variable: "01",
  string: "000161",
  binary: "000161",
  pair: "0001610001 62",
};
const encoded = (id: number, type: string) => hex(id.toString(16).padStart(2, "0") + sampleValues[type]);
const withProperties = (...properties: Buffer[]) => {
  const bytes = Buffer.concat(properties);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};

/** Of each property of 5.0: in a packet where it has no place, twice where it may stand once, and cut off. */
function propertyMistakes(): Hostile[] {
  const publish = (properties: Buffer) => packet(0x30, field("t"), properties);
  const connect = (properties: Buffer) => packet(0x10, field("MQTT"), "0502003c", properties, field("x"));
  return propertyRows.flatMap(({ id, name, type, contexts }) => {
    const one = encoded(id, type);
    const list: Hostile[] = [connected(5, `PUBLISH with ${name} cut off`, 0x81, publish(withProperties(one.subarray(0, one.length - 1))))];
    if ((contexts & 4) === 0) list.push(connected(5, `PUBLISH with ${name}`, 0x81, publish(withProperties(one))));
    else if (type !== "pair" && name !== "subscriptionIdentifiers") {
      list.push(connected(5, `PUBLISH with ${name} twice`, 0x82, publish(withProperties(one, one))));
    }
    if ((contexts & 1) === 0) list.push(first(5, `CONNECT with ${name}`, 0x81, connect(withProperties(one))));
    else if (type !== "pair" && name !== "authenticationData")
      list.push(first(5, `CONNECT with ${name} twice`, 0x82, connect(withProperties(one, one))));
    if ((contexts & 16) === 0) list.push(connected(5, `PUBACK with ${name}`, 0x81, packet(0x40, "000100", withProperties(one))));
    if ((contexts & 512) === 0) list.push(connected(5, `DISCONNECT with ${name}`, 0x81, packet(0xe0, "00", withProperties(one))));
    return list;
  });
}

function five(): Hostile[] {
  const publish = (properties: string, topic = "t") => packet(0x30, field(topic), hex(properties));
  return [
    ...propertyMistakes(),
    ...[0x00, 0x04, 0x05, 0x0a, 0x10, 0x14, 0x1b, 0x20, 0x2b, 0x7f].map((id) =>
      connected(5, `property 0x${id.toString(16)}, which there is not`, 0x81, publish(`02 ${id.toString(16).padStart(2, "0")} 01`)),
    ),
    connected(5, "a property identifier of two bytes", 0x81, publish("03 8001 01")),
    connected(5, "properties longer than the packet", 0x81, publish("7f 01 01")),
    connected(5, "a property length of five bytes", 0x81, publish("ffffffff01")),
    connected(5, "a property length with a needless byte", 0x81, publish("8000")),
    connected(5, "a remaining length with a needless byte", 0x81, hex("c0 8000")),
    connected(5, "payload format 2", 0x82, publish("02 0102")),
    connected(5, "subscription identifier in a PUBLISH", 0x82, publish("02 0b01")),
    connected(5, "topic alias 0", 0x94, publish("03 230000")),
    connected(5, "topic alias above the maximum", 0x94, publish("03 23ffff")),
    connected(5, "topic alias without a topic, never set", 0x82, publish("03 230001", "")),
    connected(5, "response topic with a wildcard", 0x82, publish("06 08 0003 612f23")),
    connected(5, "an empty response topic", 0x82, publish("03 08 0000")),
    connected(5, "a user property with a bad key", 0x81, publish("07 26 0002 c328 0000")),
    connected(5, "a user property with a bad value", 0x81, publish("07 26 0000 0002 c328")),
    connected(5, "a content type that is not UTF-8", 0x81, publish("05 03 0002 c328")),
    connected(5, "a response topic that is not UTF-8", 0x81, publish("05 08 0002 c328")),
    connected(5, "subscription identifier 0", 0x82, packet(0x82, "0001", "02 0b00", field("a"), "00")),
    connected(5, "subscription identifier twice", 0x82, packet(0x82, "0001", "04 0b01 0b02", field("a"), "00")),
    connected(5, "subscription identifier of five bytes", 0x81, packet(0x82, "0001", "06 0bffffffff01", field("a"), "00")),
    connected(5, "retain handling 3", 0x82, packet(0x82, "0001", "00", field("a"), "30")),
    connected(5, "no local on a shared subscription", 0x82, packet(0x82, "0001", "00", field("$share/g/a"), "04")),
    connected(5, "DISCONNECT with a reason that there is not", 0x82, packet(0xe0, "05")),
    connected(5, "DISCONNECT with session expiry after none", 0x82, packet(0xe0, "00 05 11 00000001")),
    connected(5, "DISCONNECT with bytes behind its properties", 0x81, packet(0xe0, "00 00 00")),
    connected(5, "AUTH without a method", 0x82, packet(0xf0, "18 00")),
    connected(5, "AUTH without a body", 0x82, packet(0xf0)),
    connected(5, "AUTH with flags", 0x81, packet(0xf1)),
    connected(5, "AUTH with a reason that there is not", 0x82, packet(0xf0, "01 00")),
    first(5, "receive maximum 0", 0x82, packet(0x10, field("MQTT"), "0502003c 03 210000", field("x"))),
    first(5, "maximum packet size 0", 0x82, packet(0x10, field("MQTT"), "0502003c 05 2700000000", field("x"))),
    first(5, "request problem information 2", 0x82, packet(0x10, field("MQTT"), "0502003c 02 1702", field("x"))),
    first(5, "request response information 2", 0x82, packet(0x10, field("MQTT"), "0502003c 02 1902", field("x"))),
    first(5, "authentication data without a method", 0x82, packet(0x10, field("MQTT"), "0502003c 04 16 0001 61", field("x"))),
    first(5, "an authentication method that nobody knows", 0x8c, packet(0x10, field("MQTT"), "0502003c 04 15 0001 61", field("x"))),
    first(5, "a client that takes no CONNACK", "close", packet(0x10, field("MQTT"), "0502003c 05 2700000002", field("x"))),
    first(5, "a level above 5", 0x84, packet(0x10, field("MQTT"), "0602003c 00", field("x"))),
  ];
}

function three(): Hostile[] {
  return [
    connected(4, "AUTH", "close", packet(0xf0)),
    connected(4, "DISCONNECT with a body", "close", packet(0xe0, "00")),
    connected(4, "UNSUBACK with reasons", "close", packet(0xb0, "000100")),
    connected(4, "SUBSCRIBE with options of 5.0", "close", packet(0x82, "0001", field("a"), "04")),
  ];
}

export const hostile: readonly Hostile[] = [
  ...both.flatMap((version) => [
    ...framing(version),
    ...publishing(version),
    ...acknowledging(version),
    ...subscribing(version),
    ...connecting(version),
  ]),
  ...five(),
  ...three(),
];
