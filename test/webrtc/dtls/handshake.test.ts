import { execFileSync, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createDtlsCertificate, type DtlsCertificate } from "../../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { DtlsClient as ActiveSide } from "../../../servers/webrtc/media/dtls/dtls-client.ts";
import { contentTypes, recordNumber, writeRecord } from "../../../servers/webrtc/media/dtls/dtls-record.ts";
import { DtlsServer } from "../../../servers/webrtc/media/dtls/dtls-server.ts";
import type { DtlsConnected } from "../../../servers/webrtc/media/dtls/dtls-side.ts";
import { handshakeTypes, writeMessage } from "../../../servers/webrtc/media/dtls/handshake-message.ts";
import { freePort } from "../../support/free-port.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { onEnd } from "../../support/start-service.ts";
import { temporaryDir } from "../../support/temporary-dir.ts";
import { until } from "../../support/until.ts";
import { DtlsClient } from "./dtls-client.ts";

const fingerprints = [{ algorithm: "sha-256", value: "AB" }];

describe("the handshake of DTLS", () => {
  it.each([
    ["passive", DtlsServer],
    ["active", ActiveSide],
  ] as const)("[WEBRTC-332] no bytes make the handshake of DTLS throw on the %s side, and it ends at most once", async (_, Side) => {
    const random = seededRandom(2_332);
    const certificate = await createDtlsCertificate();
    for (let round = 0; round < 300; round++) {
      const ends: string[] = [];
      const sent: Buffer[] = [];
      const dtls = new Side({
        certificate,
        fingerprints,
        send: (datagram) => void sent.push(datagram),
        onConnected: () => ends.push("connected"),
        onEnd: (reason) => ends.push(reason),
      });
      dtls.start();
      for (let datagram = 0; datagram < 10; datagram++) {
        const body = Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
        const record = Buffer.alloc(13);
        record[0] = 20 + random.below(4);
        record.writeUInt16BE(0xfefd, 1);
        record.writeUInt16BE(random.below(2), 3);
        record.writeUInt16BE(random.chance(0.9) ? body.length : random.below(300), 11);
        if (record[0] === 22 && body.length >= 12 && random.chance(0.8)) {
          body[0] = random.chance(0.6) ? 1 + random.below(3) : random.below(21);
          body.writeUIntBE(body.length - 12, 1, 3);
          body.writeUInt16BE(random.below(3), 4);
          body.writeUIntBE(0, 6, 3);
          body.writeUIntBE(body.length - 12, 9, 3);
        }
        dtls.receive(Buffer.concat([record, body]));
      }
      expect(ends.length).toBeLessThanOrEqual(1);
      expect(ends).not.toContain("connected");
      dtls.close();
    }
  });

  it("[WEBRTC-350] each message of the handshake is taken once and in its order, and a flight is repeated once for a datagram", async () => {
    const certificate = await createDtlsCertificate();
    /** A server that has answered a hello, and the records with which its client goes on. */
    function begun() {
      const answers: Buffer[] = [];
      const records: Buffer[] = [];
      const ends: string[] = [];
      const server = new DtlsServer({
        certificate,
        fingerprints: [{ algorithm: "sha-256", value: certificate.fingerprint }],
        send: (datagram) => void answers.push(datagram),
        onConnected: () => ends.push("connected"),
        onEnd: (reason) => ends.push(reason),
      });
      onEnd(() => server.close());
      const send = (record: Buffer) => void records.push(record);
      const client = new DtlsClient({ certificate, send, onConnected() {}, onClosed() {} });
      client.sendFlight();
      const [hello] = records.splice(0) as [Buffer];
      server.receive(hello);
      for (const answer of [...answers]) client.receive(answer);
      return { server, ends, answers, hello, records };
    }
    /** With another number among the messages. */
    const numbered = (record: Buffer, sequence: number) => {
      const own = Buffer.from(record);
      own.writeUInt16BE(sequence, 13 + 4);
      return own;
    };
    const orderly = begun();
    const [shown, exchange, proof] = orderly.records as [Buffer, Buffer, Buffer];
    const flight = orderly.answers.length;
    orderly.server.receive(Buffer.concat(Array<Buffer>(100).fill(orderly.hello)));
    expect(orderly.answers.length).toBe(2 * flight);
    for (const record of orderly.records) orderly.server.receive(record);
    expect(orderly.ends).toEqual(["connected"]);
    const order: readonly (readonly [records: readonly Buffer[], type: number])[] = [
      [[shown, shown], 11],
      [[shown, exchange, exchange], 16],
      [[exchange], 16],
      [[shown, proof], 15],
    ];
    for (const [records, type] of order) {
      const { server, ends } = begun();
      for (const [index, record] of records.entries()) server.receive(numbered(record, index + 1));
      expect(ends).toEqual([`a message of the type ${type} was not expected`]);
    }
  });

  /** What arrives of the datagrams that one side has sent. */
  type Network = (datagrams: readonly Buffer[], sender: "client" | "server") => readonly Buffer[];

  /** A handshake whose client repeats its flight until it is connected. Tells what the two have come to. */
  function shakeHands(certificate: DtlsCertificate, network: Network): readonly string[] {
    const fromClient: Buffer[] = [];
    const fromServer: Buffer[] = [];
    const ends: string[] = [];
    const server = new DtlsServer({
      certificate,
      fingerprints: [{ algorithm: "sha-256", value: certificate.fingerprint }],
      send: (datagram) => void fromServer.push(datagram),
      onConnected: () => ends.push("server connected"),
      onEnd: (reason) => ends.push(reason),
    });
    onEnd(() => server.close());
    const client = new DtlsClient({
      certificate,
      send: (datagram) => void fromClient.push(datagram),
      onConnected: () => ends.push("client connected"),
      onClosed: () => ends.push("an alert"),
    });
    for (let flight = 0; flight < 100 && ends.length < 2; flight++) {
      client.sendFlight();
      while (fromClient.length > 0 || fromServer.length > 0) {
        for (const datagram of network(fromClient.splice(0), "client")) server.receive(datagram);
        for (const datagram of network(fromServer.splice(0), "server")) client.receive(datagram);
      }
    }
    return ends;
  }

  const connected = ["server connected", "client connected"];

  it("[WEBRTC-352] the handshake of DTLS completes whichever of its datagrams is lost", async () => {
    const certificate = await createDtlsCertificate();
    const sent = { client: 0, server: 0 };
    const counted = shakeHands(certificate, (datagrams, sender) => {
      sent[sender] += datagrams.length;
      return datagrams;
    });
    // The hello; certificate, key exchange, verification, change of the cipher, Finished.
    expect([counted, sent.client]).toEqual([connected, 6]);
    for (const side of ["client", "server"] as const) {
      for (let lost = 0; lost < sent[side]; lost++) {
        let place = 0;
        const ends = shakeHands(certificate, (datagrams, sender) => datagrams.filter(() => sender !== side || place++ !== lost));
        expect(ends, `datagram ${lost} of the ${side} is lost`).toEqual(connected);
      }
    }
  });

  it("[WEBRTC-352] the handshake of DTLS completes in every order of the client's answer, and where all may be lost or come twice", async () => {
    const certificate = await createDtlsCertificate();
    const answer = [0, 1, 2, 3, 4];
    const ordersOf = (places: readonly number[]): readonly (readonly number[])[] =>
      places.length === 0
        ? [[]]
        : places.flatMap((first) => ordersOf(places.filter((place) => place !== first)).map((others) => [first, ...others]));
    for (const order of ordersOf(answer)) {
      const ends = shakeHands(certificate, (datagrams) =>
        datagrams.length === answer.length ? order.map((place) => datagrams[place] as Buffer) : datagrams,
      );
      expect(ends, `order ${order}`).toEqual(connected);
    }
    const random = seededRandom(5_352);
    for (let round = 0; round < 100; round++) {
      const ends = shakeHands(certificate, (datagrams) => {
        const arrived = datagrams.flatMap((datagram) => Array<Buffer>([0, 1, 1, 2][random.below(4)] as number).fill(datagram));
        return arrived
          .map((datagram) => ({ datagram, at: random.below(1_000) }))
          .sort((one, other) => one.at - other.at)
          .map(({ datagram }) => datagram);
      });
      expect(ends, `round ${round}`).toEqual(connected);
    }
  });

  it("[WEBRTC-352] a Finished that is not encrypted is passed over", async () => {
    const certificate = await createDtlsCertificate();
    const { bytes } = writeMessage(handshakeTypes.finished, 4, Buffer.alloc(12));
    const forged = writeRecord(contentTypes.handshake, recordNumber(0, 1_000), bytes);
    const ends = shakeHands(certificate, (datagrams, sender) =>
      sender === "client" ? datagrams.flatMap((datagram) => [forged, datagram]) : datagrams,
    );
    expect(ends).toEqual(connected);
  });

  /** Both sides of the service, on a network that loses one datagram of one side. Resolves with what they have come to. */
  async function connectSides(
    shown: DtlsCertificate,
    {
      fingerprint = shown.fingerprint,
      lost,
    }: { readonly fingerprint?: string; readonly lost?: readonly [side: "active" | "passive", datagram: number] } = {},
  ): Promise<readonly string[]> {
    const certificate = await createDtlsCertificate();
    const keys = new Map<string, string>();
    const ends: string[] = [];
    const sent = { active: 0, passive: 0 };
    const fingerprintsOf = (value: string) => [{ algorithm: "sha-256", value }];
    const options = (side: "active" | "passive", to: () => { receive(datagram: Buffer): void }) => ({
      send(datagram: Buffer) {
        const isLost = lost?.[0] === side && lost[1] === sent[side]++;
        if (!isLost) setImmediate(() => to().receive(datagram));
      },
      onConnected: ({ sending, receiving }: DtlsConnected) => {
        const both = side === "active" ? [sending, receiving] : [receiving, sending];
        keys.set(side, both.map(({ key, salt }) => `${key.toString("hex")} ${salt.toString("hex")}`).join());
      },
      onEnd: (reason: string) => void ends.push(reason),
    });
    const active: ActiveSide = new ActiveSide({
      ...options("active", () => passive),
      certificate,
      fingerprints: fingerprintsOf(fingerprint),
    });
    const passive: DtlsServer = new DtlsServer({
      ...options("passive", () => active),
      certificate: shown,
      fingerprints: fingerprintsOf(certificate.fingerprint),
    });
    onEnd(() => {
      active.close();
      passive.close();
    });
    active.start();
    active.start();
    await until(() => ends.length > 0 || keys.size === 2);
    return ends.length > 0 ? ends : [keys.get("active") === keys.get("passive") ? "the same keys" : "other keys"];
  }

  it("[WEBRTC-353] both sides of the service agree on keys, whichever datagram is lost", async () => {
    const certificate = await createDtlsCertificate();
    expect(await connectSides(certificate)).toEqual(["the same keys"]);
    const losses = (["active", "passive"] as const).flatMap((side) => [0, 1].map((datagram) => [side, datagram] as const));
    for (const ends of await Promise.all(losses.map((lost) => connectSides(certificate, { lost }))))
      expect(ends).toEqual(["the same keys"]);
  });

  it("[WEBRTC-353] the active side ends where the server's certificate is not the one of the offer, or its key is another", async () => {
    const [certificate, other] = [await createDtlsCertificate(), await createDtlsCertificate()];
    expect((await connectSides(certificate, { fingerprint: other.fingerprint }))[0]).toBe(
      "the client's certificate is not the one of its offer",
    );
    expect((await connectSides({ ...certificate, key: other.key }))[0]).toBe("the client's signature is wrong");
  });

  it.each([
    ["ECDSA", ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]],
    ["RSA", ["rsa:2048"]],
  ] as const)(
    "[WEBRTC-353] OpenSSL, which asks for the cookie, agrees on keys, with a certificate of %s",
    async (_, [kind, ...parameters]) => {
      const folder = temporaryDir();
      const [keyFile, certificateFile] = [`${folder}/key.pem`, `${folder}/certificate.pem`];
      const made = [
        "req",
        "-x509",
        "-nodes",
        "-newkey",
        kind,
        ...parameters,
        "-subj",
        "/CN=test",
        "-keyout",
        keyFile,
        "-out",
        certificateFile,
      ];
      execFileSync("openssl", made, { stdio: "ignore" });
      const { fingerprint256 } = new X509Certificate(readFileSync(certificateFile));
      const port = await freePort();
      const exported = ["-use_srtp", "SRTP_AES128_CM_SHA1_80", "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen", "60"];
      const server = spawn(
        "openssl",
        [
          "s_server",
          "-dtls1_2",
          "-listen",
          "-accept",
          `127.0.0.1:${port}`,
          "-cert",
          certificateFile,
          "-key",
          keyFile,
          "-Verify",
          "1",
          ...exported,
        ],
        { stdio: ["pipe", "pipe", "ignore"] },
      );
      const ended = new Promise((resolve) => server.once("close", resolve));
      onEnd(async () => {
        server.kill("SIGKILL");
        await ended;
      });
      let printed = "";
      server.stdout.on("data", (text) => {
        printed += text;
      });
      await until(() => printed.includes("ACCEPT"));
      const socket = createSocket("udp4");
      onEnd(() => socket.close());
      socket.connect(port, "127.0.0.1");
      await once(socket, "connect");
      let connected: DtlsConnected | undefined;
      const ends: string[] = [];
      const client = new ActiveSide({
        certificate: await createDtlsCertificate(),
        fingerprints: [{ algorithm: "sha-256", value: fingerprint256 }],
        send: (datagram) => socket.send(datagram),
        onConnected: (one) => {
          connected = one;
        },
        onEnd: (reason) => void ends.push(reason),
      });
      onEnd(() => client.close());
      socket.on("message", (datagram) => client.receive(datagram));
      client.start();
      await until(() => connected ?? ends[0]);
      expect(ends).toEqual([]);
      const material = await until(() => /Keying material: ([\dA-F]{120})/.exec(printed)?.[1]);
      const { sending, receiving, profile } = connected as DtlsConnected;
      expect(profile).toBe(1);
      expect(Buffer.concat([sending.key, receiving.key, sending.salt, receiving.salt]).toString("hex").toUpperCase()).toBe(material);
    },
  );
});
