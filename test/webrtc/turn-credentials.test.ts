import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hasIntegrity } from "../../servers/webrtc/stun/message-integrity.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, magicCookie, parseStun } from "../../servers/webrtc/stun/stun-message.ts";
import { type WrittenAttribute, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { issueCredentials } from "../../servers/webrtc/turn/time-limited-credentials.ts";
import {
  credentialAttributes,
  errorOf,
  longTermKey,
  realm,
  requiredValue,
  secret,
  startTurn,
  TurnClientUnderTest,
  udpTransport,
  user,
} from "./turn-harness.ts";

const offered = Buffer.from("0002000000010000", "hex");
const sha256Key = longTermKey("sha256", user.username, user.password);
const chosen = (number: number): WrittenAttribute => [stunAttributes.passwordAlgorithm, Buffer.from([0, number, 0, 0])];
const algorithms = (value = offered): WrittenAttribute => [stunAttributes.passwordAlgorithms, value];

async function challenged(changes = {}) {
  const server = await startTurn(changes);
  const client = await TurnClientUnderTest.connect(server);
  const challenge = await client.raw(stunMethods.allocate, [udpTransport]);
  const nonce = Buffer.from(requiredValue(challenge, stunAttributes.nonce));
  const withSha256 = (attributes: readonly WrittenAttribute[], name = credentialAttributes(user.username, nonce)) =>
    client.raw(stunMethods.allocate, [udpTransport, ...name, ...attributes], { integrity: { hash: "sha256", key: sha256Key } });
  return { server, client, challenge, nonce, withSha256 };
}

describe("TURN credentials", () => {
  it("[WEBRTC-10] a request without credentials gets 401 with realm, nonce and the password algorithms, and nothing signed", async () => {
    const { challenge, nonce } = await challenged();
    expect(errorOf(challenge)).toBe(401);
    expect(requiredValue(challenge, stunAttributes.realm).toString()).toBe(realm);
    // RFC 8489 §9.2: the first two of 24 bits, password algorithms and user name anonymity.
    expect(nonce.toString()).toMatch(/^obMatJos2wAAA/);
    expect(nonce.length).toBeLessThan(128);
    expect(requiredValue(challenge, stunAttributes.passwordAlgorithms)).toEqual(offered);
    expect(challenge.integrityAt + challenge.integritySha256At).toBe(0);
  });

  it("[WEBRTC-10] without user name, realm or nonce a signed request gets 400", async () => {
    const { client, nonce } = await challenged();
    const integrity = { hash: "sha1", key: longTermKey("md5", user.username, user.password) } as const;
    for (const missing of [0, 1, 2]) {
      const attributes = credentialAttributes(user.username, nonce).filter((_, index) => index !== missing);
      expect(errorOf(await client.raw(stunMethods.allocate, [udpTransport, ...attributes], { integrity }))).toBe(400);
    }
    const long = credentialAttributes("x".repeat(600), nonce);
    expect(errorOf(await client.raw(stunMethods.allocate, [udpTransport, ...long], { integrity }))).toBe(400);
  });

  it("[WEBRTC-11] MD5 and MESSAGE-INTEGRITY: the response is signed in the same way; another password, user or realm gets 401", async () => {
    const { server, client, nonce } = await challenged();
    expect((await client.allocate()).messageClass).toBe("success");
    for (const credentials of [
      { ...user, password: "wrong" },
      { ...user, username: "nobody" },
    ])
      expect(errorOf(await client.allocate([], { credentials }))).toBe(401);
    const otherRealm = credentialAttributes(user.username, nonce).map(
      ([type, value]): WrittenAttribute => [type, type === stunAttributes.realm ? Buffer.from("other") : value],
    );
    const key = createHash("md5").update(`${user.username}:other:${user.password}`).digest();
    expect(errorOf(await client.raw(stunMethods.allocate, [udpTransport, ...otherRealm], { integrity: { hash: "sha1", key } }))).toBe(401);
    expect(server.requests.filter(({ code }) => code === 401).map(({ why }) => why)).toEqual([
      ...["without credentials", "without credentials"],
      ...["the password is wrong", "the user is unknown", "another realm"],
    ]);
    expect(server.logs.join("\n")).not.toContain(user.password);
  });

  it("[WEBRTC-11] SHA-256 and MESSAGE-INTEGRITY-SHA256 where the client chooses it", async () => {
    const { withSha256 } = await challenged();
    const answer = await withSha256([chosen(2), algorithms()]);
    expect(answer.messageClass).toBe("success");
    expect(answer.integrityAt).toBe(0);
    expect(hasIntegrity("sha256", sha256Key, answer)).toBe(true);
  });

  it("[WEBRTC-12] algorithms that are not those that were offered get 400: nobody may take the better one out", async () => {
    const { withSha256 } = await challenged();
    for (const wrong of [[chosen(2)], [algorithms()], [chosen(2), algorithms(offered.subarray(0, 4))], [chosen(9), algorithms()]])
      expect(errorOf(await withSha256(wrong))).toBe(400);
  });

  it("[WEBRTC-13] USERHASH stands for the user name", async () => {
    const { server, nonce, withSha256 } = await challenged();
    const hash = createHash("sha256").update(`${user.username}:${realm}`).digest();
    const name: WrittenAttribute[] = [[stunAttributes.userhash, hash], ...credentialAttributes("", nonce).slice(1)];
    expect((await withSha256([chosen(2), algorithms()], name)).messageClass).toBe("success");
    expect(server.opened.map(({ username }) => username)).toEqual([user.username]);
    hash[0] = (hash[0] as number) ^ 1;
    expect(errorOf(await withSha256([chosen(2), algorithms()], name))).toBe(401);
  });

  it("[WEBRTC-14] time-limited credentials are taken until their time, with any of the secrets", async () => {
    const server = await startTurn({ secrets: ["the next one", secret] });
    const issued = issueCredentials(secret, "grace", 600);
    expect(issued.username).toMatch(/^\d+:grace$/);
    const credentials = { username: issued.username, password: issued.credential };
    const client = await TurnClientUnderTest.connect(server);
    await client.relayed([], { credentials });
    expect(server.opened.map((one) => [one.username, one.user])).toEqual([[issued.username, "grace"]]);
    const other = await TurnClientUnderTest.connect(server);
    const foreign = issueCredentials("another secret", "grace", 600);
    expect(errorOf(await other.allocate([], { credentials: { username: foreign.username, password: foreign.credential } }))).toBe(401);
    await server.advance(601_000);
    expect(errorOf(await other.allocate([], { credentials }))).toBe(401);
    expect(server.requests.at(-1)?.why).toBe("the credentials have expired");
  });

  it("[WEBRTC-15] an old nonce gets 438 with a new one if the credentials are right, else 401; one of another server always 438", async () => {
    const server = await startTurn({ lifetimes: { nonce: 60_000 } });
    const client = await TurnClientUnderTest.connect(server);
    await client.relayed();
    const old = client.nonce;
    await server.advance(61_000);
    const stale = await client.refresh(600);
    expect(errorOf(stale)).toBe(438);
    expect(attributeOf(stale, stunAttributes.passwordAlgorithms)).toEqual(offered);
    expect(client.nonce).not.toEqual(old);
    expect(errorOf(await client.refresh(600))).toBe(0);
    const wrong = { credentials: { ...user, password: "wrong" } };
    for (const credentials of [{}, wrong]) {
      client.nonce = Buffer.from("of another server");
      expect(errorOf(await client.request(stunMethods.refresh, [], credentials))).toBe(438);
    }
    client.nonce = old;
    expect(errorOf(await client.request(stunMethods.refresh, [], wrong))).toBe(401);
  });

  it("[WEBRTC-16] after too many wrong credentials of an address its right ones get 401 too, for a time", async () => {
    const server = await startTurn({ limits: { failures: 3, failureWindowMs: 10_000 } });
    const client = await TurnClientUnderTest.connect(server);
    for (let attempt = 0; attempt < 3; attempt++)
      expect(errorOf(await client.allocate([], { credentials: { ...user, password: "wrong" } }))).toBe(401);
    expect(errorOf(await client.allocate())).toBe(401);
    expect(server.requests.at(-1)?.why).toBe("too many wrong credentials from this address");
    await server.advance(10_001);
    expect((await client.allocate()).messageClass).toBe("success");
  });

  it("[WEBRTC-551] an allocation is refreshed by its user also where its address has sent too many wrong credentials", async () => {
    const server = await startTurn({ limits: { failures: 3, failureWindowMs: 60_000 } });
    const [holder, other] = [await TurnClientUnderTest.connect(server), await TurnClientUnderTest.connect(server)];
    const port = await holder.relayedPort();
    const wrong = { credentials: { ...user, password: "wrong" } };
    for (let attempt = 0; attempt < 3; attempt++) expect(errorOf(await other.allocate([], wrong))).toBe(401);
    // Not for others, nor for another user at this place.
    expect(errorOf(await other.allocate())).toBe(401);
    expect(errorOf(await holder.request(stunMethods.refresh, [], { credentials: { username: "bob", password: "builder" } }))).toBe(401);
    expect(errorOf(await holder.refresh(600))).toBe(0);
    expect(errorOf(await holder.permit("127.0.0.1"))).toBe(0);
    expect(errorOf(await holder.bindChannel(0x4000, port))).toBe(0);
    // Wrong ones tell nothing, and too many of them end that.
    for (let attempt = 0; attempt < 20; attempt++) {
      expect(errorOf(await holder.request(stunMethods.refresh, [], wrong))).toBe(401);
      expect(server.requests.at(-1)?.why).toBe("too many wrong credentials from this address");
    }
    expect(errorOf(await holder.refresh(600))).toBe(401);
    await server.advance(60_001);
    expect(errorOf(await holder.refresh(600))).toBe(0);
  });

  it("[WEBRTC-16] credentials with a nonce that this server has not given are not counted", async () => {
    const server = await startTurn({ limits: { failures: 3, failureWindowMs: 10_000 } });
    const client = await TurnClientUnderTest.connect(server);
    await client.relayed();
    const { nonce } = client;
    for (let attempt = 0; attempt < 5; attempt++) {
      client.nonce = Buffer.from("invented");
      expect(errorOf(await client.request(stunMethods.refresh, [], { credentials: { ...user, password: "wrong" } }))).toBe(438);
    }
    client.nonce = nonce;
    expect(errorOf(await client.refresh(600))).toBe(0);
  });
});

describe("answers to who has shown no credentials", () => {
  it("[WEBRTC-480] an address gets a bounded number of errors in a second, and those without integrity are short", async () => {
    const server = await startTurn({ limits: { challengesPerSecond: 3 } });
    const transaction = Buffer.alloc(16);
    transaction.writeUInt32BE(magicCookie);
    const request = writeStun({ messageClass: "request", method: stunMethods.allocate, transaction, attributes: [], fingerprint: false });
    const ask = (address: string, transport: "udp" | "tcp" = "udp"): readonly Buffer[] => {
      const answers: Buffer[] = [];
      const client = {
        ...{ transport, address, port: 5_000, allocation: undefined, isAllocating: false, isGone: false },
        send: (message: Buffer) => answers.push(message) > 0,
        sendChannelData: () => false,
      };
      for (let count = 0; count < 10; count++) server.engine.receive(client, request, 0, request.length);
      return answers;
    };
    const answers = ask("192.0.2.7");
    expect(answers).toHaveLength(3);
    const challenge = parseStun(answers[0] as Buffer);
    expect(challenge && attributeOf(challenge, stunAttributes.software)).toBeUndefined();
    // One client has all addresses of a /64.
    expect(ask("2001:db8::1").length + ask("2001:db8::2").length).toBe(3);
    // Nobody else can send under these.
    expect(ask("127.0.0.1")).toHaveLength(10);
    expect(ask("192.0.2.7", "tcp")).toHaveLength(10);
    await server.advance(1_001);
    expect(ask("192.0.2.7")).toHaveLength(3);
  });
});
