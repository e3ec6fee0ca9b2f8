import { randomBytes as bytesOfChance } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createDtlsCertificate } from "../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { contentTypes, recordNumber, writeRecord } from "../../servers/webrtc/media/dtls/dtls-record.ts";
import { handshakeTypes, messageHeadBytes, uint16, vector, writeMessage } from "../../servers/webrtc/media/dtls/handshake-message.ts";
import { DtlsClient } from "../webrtc/dtls/dtls-client.ts";
import { type MediaServer, playerOffer } from "../webrtc/media-offers.ts";
import { MediaPeer } from "../webrtc/media-peer.ts";
import { type Attack, randomBytes } from "./hostile-service.ts";
import { asPlayers, dtlsBytes, looksLike, sendAll, sessionsOfAttack, withServer } from "./media-players.ts";
import { list } from "./signalling-attacks.ts";

/** The largest datagram over loopback. */
const mostDatagramBytes = 65_507;

let sequence = 0;
const record = (type: number, epoch: number, fragment: Buffer): Buffer => writeRecord(type, recordNumber(epoch, sequence++), fragment);
const message = (type: number, number: number, body: Buffer): Buffer => writeMessage(type, number, body).bytes;

/** A part of a message of `length` bytes. */
function part(type: number, number: number, length: number, from: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(messageHeadBytes);
  head[0] = type;
  head.writeUIntBE(length, 1, 3);
  head.writeUInt16BE(number, 4);
  head.writeUIntBE(from, 6, 3);
  head.writeUIntBE(bytes.length, 9, 3);
  return Buffer.concat([head, bytes]);
}

interface HelloParts {
  readonly cookie?: Buffer;
  readonly suites?: readonly number[];
  readonly extensions?: readonly Buffer[];
}

const helloBody = ({ cookie = Buffer.alloc(0), suites = [0xc02b], extensions = [] }: HelloParts = {}): Buffer =>
  Buffer.concat([
    ...[uint16(0xfefd), bytesOfChance(32), vector(1), vector(1, cookie), vector(2, ...suites.map(uint16)), vector(1, Buffer.from([0]))],
    vector(2, ...extensions),
  ]);
const extension = (type: number, value: Buffer): Buffer => Buffer.concat([uint16(type), vector(2, value)]);
const srtp = extension(14, Buffer.concat([vector(2, uint16(7)), vector(1)]));

/** Datagrams with as many of these records as fit. */
function* packed(records: Iterable<Buffer>, bytes = mostDatagramBytes): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let length = 0;
  for (const one of records) {
    if (length + one.length > bytes) {
      yield Buffer.concat(gathered);
      gathered = [];
      length = 0;
    }
    gathered.push(one);
    length += one.length;
  }
  yield Buffer.concat(gathered);
}

/** What a client sends behind the hello in an orderly handshake, taken from one with this service. */
async function flightOf(
  server: MediaServer,
): Promise<{ readonly hello: Buffer; readonly flight: readonly Buffer[]; readonly peer: MediaPeer }> {
  const certificate = await createDtlsCertificate();
  const named = (offer: string) => offer.replaceAll(/a=fingerprint:.*/g, `a=fingerprint:sha-256 ${certificate.fingerprint}`);
  const peer = await MediaPeer.reach(server, "/whep/stream", playerOffer(named));
  const sent: Buffer[] = [];
  const client = new DtlsClient({ certificate, send: (datagram) => void sent.push(datagram), onConnected() {}, onClosed() {} });
  client.sendFlight();
  const [hello] = sent.splice(0) as [Buffer];
  const answered = new Promise<void>((resolve) => {
    peer.socket.on("message", (datagram) => {
      if ((datagram[0] as number) < 20 || (datagram[0] as number) > 63) return;
      client.receive(datagram);
      if (sent.length > 0) resolve();
    });
  });
  const repeat = setInterval(() => peer.send(hello), 250);
  peer.send(hello);
  await answered;
  clearInterval(repeat);
  return { hello, flight: sent, peer };
}

/** The same record with other numbers, of itself and of its message. */
function renumbered(bytes: Buffer, number: number): Buffer {
  const copy = Buffer.from(bytes);
  recordNumber(copy.readUInt16BE(3), sequence++).copy(copy, 3);
  copy.writeUInt16BE(number, 13 + 4);
  return copy;
}

/** Resolves when the service has ended the handshake. */
const alertOf = ({ socket }: MediaPeer): Promise<void> =>
  new Promise((resolve) => socket.on("message", (datagram) => datagram[0] === contentTypes.alert && resolve()));

/** What reaches the handshake of a session of WHEP. */
export const dtlsAttacks: Readonly<Record<string, Attack>> = {
  "DTLS: random bytes": (target) => asPlayers(target, () => list(1_000, () => looksLike(target, dtlsBytes, target.random.below(1_400)))),
  "DTLS: fragments of a hello that never end": (target) =>
    asPlayers(target, () =>
      packed(
        list(4_000, (index) =>
          record(
            contentTypes.handshake,
            0,
            part(
              handshakeTypes.clientHello,
              target.random.below(9),
              16_384,
              1 + target.random.below(16_000),
              randomBytes(target, 1 + (index % 300)),
            ),
          ),
        ),
      ),
    ),
  "DTLS: the largest fragments, again and again": (target) => {
    const whole = part(handshakeTypes.clientHello, 1, 16_384, 0, Buffer.alloc(16_383));
    return asPlayers(target, () => list(200, () => Buffer.concat(list(3, () => record(contentTypes.handshake, 0, whole)))));
  },
  "DTLS: fragments without a byte": (target) => {
    const empty = Buffer.concat(list(1_360, (index) => part(handshakeTypes.clientHello, 1 + (index % 7), 16_384, 0, Buffer.alloc(0))));
    return asPlayers(target, () => list(200, () => Buffer.concat(list(4, () => record(contentTypes.handshake, 0, empty)))));
  },
  "DTLS: 10,000 different messages": (target) =>
    asPlayers(target, () =>
      packed(
        list(10_000, (index) =>
          record(contentTypes.handshake, 0, message(target.random.below(256), 1 + index, randomBytes(target, target.random.below(40)))),
        ),
        1_400,
      ),
    ),
  "DTLS: a hello again and again": (target) => {
    const hello = record(contentTypes.handshake, 0, message(handshakeTypes.clientHello, 0, helloBody({ extensions: [srtp] })));
    return asPlayers(target, () => list(1_000, () => Buffer.concat(list(16, () => hello))));
  },
  "DTLS: hellos with large cookies, suites and extensions": (target) => {
    const bodies = [
      helloBody({ cookie: Buffer.alloc(255, 1) }),
      helloBody({ suites: list(8_000, (suite) => suite) }),
      helloBody({ extensions: list(4_000, (type) => extension(type, Buffer.alloc(0))) }),
      helloBody({ extensions: list(4_000, () => extension(14, Buffer.alloc(0))) }),
      helloBody({ extensions: [extension(10, vector(2, Buffer.alloc(16_000))), srtp] }),
    ];
    return asPlayers(target, () => {
      const body = bodies[target.random.below(bodies.length)] as Buffer;
      return list(50, () => record(contentTypes.handshake, 0, message(handshakeTypes.clientHello, 0, body)));
    });
  },
  "DTLS: key exchanges and certificates again and again": (target) =>
    withServer(target, async (server) => {
      await Promise.all(
        list(sessionsOfAttack, async () => {
          const { flight, peer } = await flightOf(server);
          const [certificate, exchange, proof] = flight as readonly [Buffer, Buffer, Buffer];
          await sendAll(peer, [certificate, exchange]);
          await sendAll(
            peer,
            packed(
              list(3_000, (index) =>
                renumbered([certificate, exchange, proof][index % 3] as Buffer, index % 3 === 0 ? 1 : 2 + (index >> 3)),
              ),
              4_000,
            ),
          );
          await peer.end();
        }),
      );
    }),
  "DTLS: records that keys do not open": (target) =>
    withServer(target, async (server) => {
      const { flight, peer } = await flightOf(server);
      const forged = (bytes: number) => record(contentTypes.handshake, 1, randomBytes(target, bytes));
      await sendAll(
        peer,
        list(300, () => forged(target.random.below(300))),
      );
      await sendAll(peer, flight.slice(0, 3));
      await sendAll(
        peer,
        packed(
          list(6_400, () => forged(60)),
          1_300,
        ),
      );
      await sendAll(
        peer,
        list(100, () => Buffer.concat([forged(16_000), forged(16_000), forged(16_000)])),
      );
      await peer.end();
    }),
  "DTLS: a certificate against hundreds of fingerprints": (target) =>
    withServer(target, async (server) => {
      const hello = message(handshakeTypes.clientHello, 0, helloBody({ extensions: [srtp] }));
      const shown = message(handshakeTypes.certificate, 1, vector(3, vector(3, Buffer.alloc(16_000))));
      const lines = list(800, (index) => `a=fingerprint:sha-${[1, 256, 384, 512][index % 4]} AB:CD\r\n`).join("");
      for (let session = 0; session < 5; session++) {
        const peer = await MediaPeer.reach(
          server,
          "/whep/stream",
          playerOffer((offer) => `${offer}${lines}`),
        );
        await sendAll(
          peer,
          [hello, shown].map((bytes) => record(contentTypes.handshake, 0, bytes)),
        );
        await Promise.race([alertOf(peer), delay(target.holdMs)]);
        await peer.end();
      }
    }),
  "DTLS: alerts": (target) =>
    asPlayers(target, () =>
      list(1_000, (index) => record(contentTypes.alert, index % 2, Buffer.from([1 + (index % 9 === 8 ? 1 : 0), target.random.below(256)]))),
    ),
  "DTLS: data of SCTP before a handshake": (target) =>
    asPlayers(target, () =>
      list(1_000, (index) => {
        const init = Buffer.concat([Buffer.from("138813880000000000000000", "hex"), Buffer.from([1, 0, 0, 20]), randomBytes(target, 16)]);
        return index % 2 === 0 ? init : record(contentTypes.applicationData, index % 4 === 1 ? 0 : 1, init);
      }),
    ),
  "DTLS: cookies for an offer that waits": (target) =>
    asPlayers(
      target,
      () =>
        list(500, (index) =>
          record(
            contentTypes.handshake,
            0,
            message(handshakeTypes.helloVerifyRequest, index % 3, Buffer.concat([uint16(0xfeff), vector(1, Buffer.alloc(255, 7))])),
          ),
        ),
      (offer) => offer.replaceAll("setup:actpass", "setup:passive"),
    ),
};
