import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, type StunMessage } from "../../servers/webrtc/stun/stun-message.ts";
import { encodeAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import {
  addressesOf,
  errorOf,
  hasIpv6,
  requiredValue,
  startTurn,
  type Transport,
  TurnClientUnderTest,
  testCertificates,
} from "./turn-harness.ts";

const runFile = promisify(execFile);
const bind = (client: TurnClientUnderTest): Promise<StunMessage> => client.raw(stunMethods.binding, []);

describe("STUN", () => {
  it.each(["udp", "tcp", "tls"] as const)(
    "[WEBRTC-1] Binding over %s gets the client's address, with SOFTWARE and FINGERPRINT",
    async (transport) => {
      const tls = transport === "tls" ? { tls: { port: 0, certificates: await testCertificates(), tlsHandshakes: 100 } } : {};
      const server = await startTurn(tls);
      for (const host of hasIpv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"]) {
        const client = await TurnClientUnderTest.connect(server, transport as Transport, host);
        const answer = await bind(client);
        expect(answer.messageClass).toBe("success");
        expect(addressesOf(answer, stunAttributes.xorMappedAddress)).toEqual([
          { family: host === "::1" ? "IPv6" : "IPv4", address: host, port: client.localPort() },
        ]);
        expect(requiredValue(answer, stunAttributes.software).toString()).toBe("Backlot test");
        expect(attributeOf(answer, stunAttributes.fingerprint)).toBeDefined();
      }
      expect(server.requests[0]).toMatchObject({ method: "binding", code: 0, client: { transport, address: "127.0.0.1" } });
    },
  );

  it("[WEBRTC-1] coturn's turnutils_stunclient gets its address", async () => {
    const server = await startTurn();
    const { stdout, stderr } = await runFile("turnutils_stunclient", ["-p", String(server.port), "127.0.0.1"], { timeout: 20_000 });
    expect(stdout + stderr).toMatch(/UDP reflexive addr: 127\.0\.0\.1:\d+/);
  });

  it("[WEBRTC-3] a request with unknown attributes that must be understood gets 420 with their types; others are ignored", async () => {
    const client = await TurnClientUnderTest.connect(await startTurn());
    const answer = await client.raw(stunMethods.binding, [
      [stunAttributes.changeRequest, Buffer.alloc(4)],
      [0x7fff, Buffer.alloc(3)],
      [0xbfff, Buffer.alloc(1)],
    ]);
    expect(errorOf(answer)).toBe(420);
    expect(requiredValue(answer, stunAttributes.unknownAttributes).toString("hex")).toBe("00037fff");
    expect((await client.raw(stunMethods.binding, [[0xbfff, Buffer.alloc(1)]])).messageClass).toBe("success");
  });

  it("[WEBRTC-4] a client of RFC 3489 gets MAPPED-ADDRESS with its 16 bytes of transaction; another address for the answer is refused with 420", async () => {
    const client = await TurnClientUnderTest.connect(await startTurn());
    const transaction = Buffer.alloc(16, 7);
    const classic = (type: number, value: Buffer) =>
      writeStun({ messageClass: "request", method: 1, transaction, attributes: [[type, value]], fingerprint: false });
    client.send(classic(stunAttributes.changeRequest, Buffer.alloc(4)));
    const answer = await client.answerTo(transaction);
    expect(answer.attributes).toEqual([{ type: stunAttributes.mappedAddress, value: encodeAddress("127.0.0.1", client.localPort()) }]);
    transaction.fill(8);
    client.send(classic(stunAttributes.changeRequest, Buffer.from([0, 0, 0, 6])));
    const refused = await client.answerTo(transaction);
    expect([errorOf(refused), requiredValue(refused, stunAttributes.unknownAttributes).toString("hex")]).toEqual([420, "0003"]);
  });

  it("[WEBRTC-5] what is no request gets no answer, and is counted", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server);
    const message = (messageClass: "request" | "indication" | "success", method: number) =>
      writeStun({ messageClass, method, transaction: Buffer.alloc(16, method), attributes: [], fingerprint: true });
    const wrong = [
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.alloc(20, 0xff),
      Buffer.from([0]),
      message("success", 1),
      message("request", 0x0ff),
      message("request", 1).subarray(0, 24),
    ];
    for (const bytes of [...wrong, Buffer.alloc(0), message("indication", 1)]) client.send(bytes);
    expect((await bind(client)).messageClass).toBe("success");
    expect(client.messages.length).toBe(1);
    // The first is like ChannelData of a client without an allocation.
    expect(server.engine.statistics()).toMatchObject({ malformed: wrong.length, withoutAllocation: 1 });
  });

  it("[WEBRTC-7] a stream with other bytes is closed, and the others go on", async () => {
    const server = await startTurn();
    const [wrong, right] = [await TurnClientUnderTest.connect(server, "tcp"), await TurnClientUnderTest.connect(server, "tcp")];
    wrong.send(Buffer.from([0x80, 0, 0, 0]));
    await wrong.closed();
    expect((await bind(right)).messageClass).toBe("success");
    expect(server.logs.join("\n")).toContain("neither STUN nor ChannelData");
  });

  it("[WEBRTC-6] no datagrams and no streams make the server fail", async () => {
    const server = await startTurn();
    const random = seededRandom(66);
    const client = await TurnClientUnderTest.connect(server);
    await client.relayed();
    await client.bindChannel(0x4000, 9);
    const samples = server.requests.length;
    expect(samples).toBeGreaterThan(1);
    const request = writeStun({
      ...{ messageClass: "request", method: 3, transaction: Buffer.alloc(16, 1), fingerprint: false },
      attributes: [
        [stunAttributes.username, Buffer.from("ada")],
        [stunAttributes.realm, Buffer.from("backlot")],
        [stunAttributes.nonce, client.nonce],
        [stunAttributes.requestedTransport, Buffer.from([17, 0, 0, 0])],
        [stunAttributes.messageIntegrity, Buffer.alloc(20)],
      ],
    });
    const kinds = [request, Buffer.from([0x40, 0, 0, 4, 1, 2, 3, 4]), Buffer.alloc(24)];
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(kinds[random.below(kinds.length)] as Buffer);
      for (let change = random.below(4); change > 0; change--) bytes[random.below(bytes.length)] = random.below(256);
      client.send(bytes.subarray(0, random.chance(0.8) ? bytes.length : random.below(bytes.length)));
    }
    for (let round = 0; round < 20; round++) {
      const stream = await TurnClientUnderTest.connect(server, "tcp");
      for (let part = 0; part < 20; part++)
        stream.send(Buffer.from(Array.from({ length: random.below(50) }, () => random.below(256) & 0x7f)));
      stream.disconnect();
    }
    await until(() => server.engine.statistics().connections === 0);
    expect(server.logs.filter((line) => line.startsWith("error"))).toEqual([]);
    expect((await bind(await TurnClientUnderTest.connect(server))).messageClass).toBe("success");
  });
});
