import type { Socket } from "node:net";
import os from "node:os";
import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf } from "../../servers/webrtc/stun/stun-message.ts";
import { encodeXorAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { Allocation } from "../../servers/webrtc/turn/allocation.ts";
import { canonicalAddress, createPeerPolicy } from "../../servers/webrtc/turn/peer-policy.ts";
import { type Relay, RelayPorts } from "../../servers/webrtc/turn/relay-ports.ts";
import { StreamClient } from "../../servers/webrtc/turn/stream-client.ts";
import { webrtcConfig } from "../../servers/webrtc/webrtc-config.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import {
  channelMessage,
  channelValue,
  errorOf,
  hasIpv6,
  Peer,
  requestedFamily,
  startTurn,
  type Transport,
  TurnClientUnderTest,
} from "./turn-harness.ts";

/** Of this computer in a network. */
const outerAddress = Object.values(os.networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

async function relaying(changes = {}, transport: Transport = "udp") {
  const server = await startTurn(changes);
  const client = await TurnClientUnderTest.connect(server, transport);
  const port = await client.relayedPort();
  const peer = await Peer.open();
  const lost = () => server.engine.allocations()[0]?.lost;
  return { server, client, port, peer, lost };
}

describe("TURN data", () => {
  it("[WEBRTC-40] CreatePermission needs a peer, of the allocation's family, that is allowed; one wrong peer and none is installed", async () => {
    const { server, client } = await relaying();
    expect(errorOf(await client.request(stunMethods.createPermission))).toBe(400);
    expect(errorOf(await client.request(stunMethods.createPermission, [[stunAttributes.xorPeerAddress, Buffer.alloc(7)]]))).toBe(400);
    expect(errorOf(await client.permit("127.0.0.1", "::1"))).toBe(443);
    expect(errorOf(await client.permit("127.0.0.1", "192.0.2.1"))).toBe(403);
    expect(server.engine.allocations()[0]?.permissions).toEqual([]);
    expect(errorOf(await client.permit("127.0.0.1", "127.0.0.2"))).toBe(0);
    expect(server.engine.allocations()[0]?.permissions.map(({ address }) => address)).toEqual(["127.0.0.1", "127.0.0.2"]);
  });

  it("[WEBRTC-41] peers are those of loopback only, unless others are allowed", async () => {
    for (const [allowed, right, wrong] of [
      [["loopback"], ["127.0.0.1", "127.9.9.9", "::1"], ["10.0.0.1", "192.168.1.1", "0.0.0.0", "169.254.169.254", "::", "fe80::1"]],
      [["10.0.0.0/8"], ["10.1.2.3"], ["127.0.0.1", "11.0.0.1", "::1"]],
      [["*"], ["8.8.8.8", "10.0.0.1", "2001:db8::1"], ["0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "ff02::1"]],
      [[], [], ["127.0.0.1"]],
    ] as const) {
      const isAllowed = createPeerPolicy(allowed);
      expect([...right, ...wrong].filter((address) => isAllowed(address, "127.0.0.1"))).toEqual(right);
    }
  });

  it("[WEBRTC-41] a setting that names no address is refused when it is saved", () => {
    const entries = webrtcConfig.shape.allowedPeers;
    for (const right of ["10.0.0.7", "10.0.0.0/8", "2001:db8::/32", "loopback", "*"]) expect(entries.safeParse([right]).success).toBe(true);
    for (const wrong of ["everywhere", "0.0.0.0/99", "", "10.0.0.0/8/8"]) expect(entries.safeParse([wrong]).success).toBe(false);
  });

  it("[WEBRTC-41] an IPv4 address inside of an IPv6 address is checked as that one", () => {
    for (const [address, canonical] of [
      ["::ffff:10.0.0.1", "10.0.0.1"],
      ["::ffff:a00:1", "10.0.0.1"],
      ["::10.0.0.1", "10.0.0.1"],
      ["::ffff:0:10.0.0.1", "10.0.0.1"],
      ["64:ff9b::10.0.0.1", "10.0.0.1"],
      ["64:ff9b:1::a00:1", "10.0.0.1"],
      ["2002:a00:1::5", "10.0.0.1"],
      ["::1", "::1"],
      ["::", "::"],
      ["2001:db8::1", "2001:db8::1"],
      ["127.0.0.1", "127.0.0.1"],
    ] as const)
      expect(canonicalAddress(address)).toBe(canonical);
    const policy = createPeerPolicy(["loopback"]);
    const isAllowed = (address: string) => policy(address, "::1");
    expect(["::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1"].every(isAllowed)).toBe(true);
    expect(["::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::a00:1"].some(isAllowed)).toBe(false);
  });

  it("[WEBRTC-41] loopback is for clients of this computer only", () => {
    for (const allowed of [["loopback"], ["*"], ["127.0.0.1"]]) {
      const isAllowed = createPeerPolicy(allowed);
      expect(["127.0.0.1", "::ffff:127.0.0.1", "::1"].filter((address) => isAllowed(address, "192.168.1.7"))).toEqual([]);
      expect([isAllowed("127.0.0.1", "127.0.0.1"), isAllowed("127.0.0.1", "::ffff:127.0.0.1")]).toEqual([true, true]);
    }
  });

  it.runIf(outerAddress !== undefined)(
    "[WEBRTC-41] a server on loopback has clients of this computer only, whatever address they send from",
    async () => {
      const server = await startTurn();
      const client = await TurnClientUnderTest.connect(server, "udp", "127.0.0.1", outerAddress);
      await client.relayedPort();
      expect(errorOf(await client.permit("127.0.0.1"))).toBe(0);
      expect(createPeerPolicy(["loopback"], false)("10.0.0.1", "192.168.1.7")).toBe(false);
    },
  );

  it.runIf(hasIpv6)("[WEBRTC-41] an allocation of IPv6 has no peer with a mapped address", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server, "udp", "::1");
    await client.relayed([requestedFamily(2)]);
    expect(errorOf(await client.permit("::ffff:127.0.0.1"))).toBe(443);
    expect(errorOf(await client.permit("::ffff:10.0.0.1"))).toBe(403);
    expect(errorOf(await client.permit("127.0.0.1"))).toBe(443);
  });

  it.each(["udp", "tcp"] as const)(
    "[WEBRTC-43] Send and Data indications over %s, to and from a peer with a permission only",
    async (transport) => {
      const { server, client, port, peer, lost } = await relaying({}, transport);
      client.indicate("127.0.0.1", peer.port, Buffer.from("too early"));
      peer.socket.send("too early", port, "127.0.0.1");
      await until(() => lost()?.notPermitted === 2);
      await client.permit("127.0.0.1");
      client.indicate("127.0.0.1", peer.port, Buffer.from("hello"));
      expect(await peer.next()).toEqual(["hello"]);
      expect(peer.received[0]?.port).toBe(port);
      peer.socket.send("good day", port, "127.0.0.1");
      peer.socket.send(Buffer.alloc(0), port, "127.0.0.1");
      await until(() => client.received().length === 2);
      expect(client.received()).toEqual([
        { port: peer.port, data: "good day" },
        { port: peer.port, data: "" },
      ]);
      expect(server.engine.statistics()).toMatchObject({ toPeers: { datagrams: 1, bytes: 5 }, fromPeers: { datagrams: 2, bytes: 8 } });
    },
  );

  it.runIf(hasIpv6)("[WEBRTC-43] data over IPv6, from a client over IPv4", async () => {
    const server = await startTurn();
    const client = await TurnClientUnderTest.connect(server);
    const [relayed] = await client.relayed([requestedFamily(2)]);
    const peer = await Peer.open("::1");
    await client.permit("::1");
    client.indicate("::1", peer.port, Buffer.from("six"));
    expect(await peer.next()).toEqual(["six"]);
    expect(errorOf(await client.bindChannel(0x4001, peer.port, "::1"))).toBe(0);
    peer.socket.send("back", relayed?.port ?? 0, "::1");
    await until(() => client.channelData.length === 1);
    expect(client.channelData[0]).toEqual(channelMessage(0x4001, "back"));
  });

  it("[WEBRTC-42] a channel number has one peer, and a peer one number", async () => {
    const { client, peer } = await relaying();
    const bind = stunMethods.channelBind;
    for (const number of [0x3fff, 0x8000, 0xffff]) expect(errorOf(await client.bindChannel(number, peer.port))).toBe(400);
    expect(errorOf(await client.request(bind, [[stunAttributes.channelNumber, channelValue(0x4000)]]))).toBe(400);
    expect(errorOf(await client.peerRequest(bind, [["127.0.0.1", peer.port]]))).toBe(400);
    expect(errorOf(await client.bindChannel(0x4000, 0))).toBe(400);
    expect(errorOf(await client.bindChannel(0x4000, 9, "192.0.2.1"))).toBe(403);
    expect(errorOf(await client.bindChannel(0x4000, 9, "::1"))).toBe(443);
    expect(errorOf(await client.bindChannel(0x4000, peer.port))).toBe(0);
    expect(errorOf(await client.bindChannel(0x4000, peer.port))).toBe(0);
    expect(errorOf(await client.bindChannel(0x4000, 9))).toBe(400);
    expect(errorOf(await client.bindChannel(0x4001, peer.port))).toBe(400);
    expect(errorOf(await client.bindChannel(0x7fff, 9))).toBe(0);
  });

  it.each(["udp", "tcp"] as const)("[WEBRTC-44] ChannelData over %s goes both ways, and permits its peer's address", async (transport) => {
    const { client, port, peer } = await relaying({}, transport);
    expect(errorOf(await client.bindChannel(0x4000, peer.port))).toBe(0);
    // Over a stream messages are padded; over UDP they may be.
    client.send(channelMessage(0x4000, "hello", 3));
    client.send(channelMessage(0x4000, "four", 0));
    expect(await peer.next(2)).toEqual(["hello", "four"]);
    for (const text of ["a", "abcd", "abcde"]) peer.socket.send(text, port, "127.0.0.1");
    await until(() => client.channelData.length === 3);
    expect(client.channelData).toEqual(["a", "abcd", "abcde"].map((text) => channelMessage(0x4000, text)));
    // Another port of the address has a permission, and no channel.
    const other = await Peer.open();
    other.socket.send("from the side", port, "127.0.0.1");
    await until(() => client.received().length === 1);
    expect(client.received()).toEqual([{ port: other.port, data: "from the side" }]);
  });

  it("[WEBRTC-44] ChannelData on a channel that is not bound, or longer than its datagram, is dropped", async () => {
    const { client, peer, lost } = await relaying();
    await client.bindChannel(0x4000, peer.port);
    client.send(channelMessage(0x4001, "not bound"));
    client.send(channelMessage(0x4000, "too short").subarray(0, 8));
    client.send(Buffer.from([0x40]));
    client.send(channelMessage(0x4000, "right"));
    expect(await peer.next()).toEqual(["right"]);
    expect(lost()?.withoutChannel).toBe(3);
  });

  it("[WEBRTC-43] a Send indication without peer or data, or with an unknown attribute, is dropped", async () => {
    const { server, client, peer } = await relaying();
    await client.permit("127.0.0.1");
    client.indicate("127.0.0.1", 0, Buffer.from("no port"));
    client.indicate("127.0.0.1", peer.port, Buffer.from("unknown"), [[0x7fff, Buffer.alloc(0)]]);
    client.indicate("127.0.0.1", peer.port, Buffer.from("right"));
    expect(await peer.next()).toEqual(["right"]);
    expect(server.engine.statistics().malformed).toBe(2);
  });

  it("[WEBRTC-45] what the system cannot send is answered with the error of ICMP", async () => {
    const { client, lost } = await relaying({ allowedPeers: ["*"] });
    await client.permit("192.0.2.1");
    // RFC 8656 §11.2: more than any path takes without fragments.
    client.indicate("192.0.2.1", 9, Buffer.alloc(1_500), [[stunAttributes.dontFragment, Buffer.alloc(0)]]);
    const answer = await until(() => client.messages.find((message) => attributeOf(message, stunAttributes.icmp)));
    expect(attributeOf(answer, stunAttributes.icmp)).toEqual(Buffer.from([0, 0, 3, 4, 0, 0, 0, 0]));
    expect(attributeOf(answer, stunAttributes.xorPeerAddress)).toEqual(encodeXorAddress("192.0.2.1", 9, answer.transaction));
    expect(lost()?.unsendable).toBe(1);
  });

  it("[WEBRTC-488] where too much waits for all clients over TCP, the one for whom most waits is disconnected, and others lose nothing", async () => {
    const { server, client, port, peer } = await relaying({ streams: { unsentBytes: 64 << 20, allUnsentBytes: 1 << 20 } }, "tcp");
    await client.bindChannel(0x4000, peer.port);
    const other = await TurnClientUnderTest.connect(server, "tcp");
    const otherPort = await other.relayedPort();
    await other.bindChannel(0x4000, peer.port);
    client.stopReading();
    const datagram = Buffer.alloc(8_000);
    await until(() => {
      for (let count = 0; count < 20; count++) peer.socket.send(datagram, port, "127.0.0.1");
      return server.closed.length > 0;
    });
    expect(server.closed[0]?.reason).toBe("connection closed");
    peer.socket.send("goes on", otherPort, "127.0.0.1");
    await until(() => other.channelData.length === 1);
  });

  it("[WEBRTC-488] messages without a byte count, too: those that wait are bounded", () => {
    const socket = new Duplex({ read() {}, write() {} });
    onEnd(() => void socket.destroy());
    const client = new StreamClient({
      transport: "tls",
      socket: Object.assign(socket, { remoteAddress: "192.0.2.1", setNoDelay: () => socket }) as unknown as Socket,
      unsentBytes: 20_000,
      unsent: new SharedBudget(1 << 20),
      turns: new WorkTurns(),
      now: () => 0,
      onMessage() {},
      onClosed() {},
    });
    let sent = 0;
    while (sent < 1_000 && client.sendChannelData(0x4000, Buffer.alloc(0))) sent++;
    expect(sent).toBeGreaterThan(100);
    expect(sent).toBeLessThan(200);
  });

  it("[WEBRTC-490] where the time of a turn is used up, a relay reads one datagram and leaves the rest to the next one", async () => {
    const address = { host: "127.0.0.1", advertised: "127.0.0.1" };
    const ports = { first: 49_152, last: 65_535 };
    const relays = new RelayPorts(
      { addresses: { IPv4: address }, ports, receiveBufferBytes: 1 << 18 },
      { isUsedUp: () => true, isOwnAddress: () => true, isClientPort: () => false },
    );
    const relay = (await relays.bindOne("IPv4", false, { address: "127.0.0.1" })) as Relay;
    onEnd(() => relay.close());
    const peer = await Peer.open();
    let turn = 0;
    const turns: number[] = [];
    relay.receiver = () => void turns.push(turn);
    for (let count = 0; count < 50; count++) peer.socket.send("x", relay.port, "127.0.0.1");
    while (turns.length < 50) {
      await nextTurn();
      turn++;
    }
    expect(new Set(turns).size).toBe(50);
  });

  it("[WEBRTC-489] permissions and channels are listed when they are read", async () => {
    const { server, client, peer } = await relaying({}, "udp");
    const listed = vi.spyOn(Allocation.prototype, "permissions", "get");
    onEnd(() => listed.mockRestore());
    const [before] = server.engine.allocations();
    await client.bindChannel(0x4001, peer.port);
    const [after] = server.engine.allocations();
    expect(listed).not.toHaveBeenCalled();
    expect(after?.revision).not.toBe(before?.revision);
    expect(after?.channels).toMatchObject([{ number: 0x4001, port: peer.port }]);
    expect(after?.permissions).toHaveLength(1);
    expect(listed).toHaveBeenCalledOnce();
  });

  it("[WEBRTC-46] a client over TCP that reads nothing loses what is beyond its limit, and others lose nothing", async () => {
    const { server, client, port, peer, lost } = await relaying({ streams: { unsentBytes: 20_000 } }, "tcp");
    await client.bindChannel(0x4000, peer.port);
    const other = await TurnClientUnderTest.connect(server, "tcp");
    const otherPort = await other.relayedPort();
    await other.bindChannel(0x4000, peer.port);
    client.stopReading();
    const datagram = Buffer.alloc(8_000);
    await until(() => {
      for (let count = 0; count < 20; count++) peer.socket.send(datagram, port, "127.0.0.1");
      return (lost()?.clientBehind ?? 0) > 0;
    });
    peer.socket.send("goes on", otherPort, "127.0.0.1");
    await until(() => other.channelData.length === 1);
    expect(other.channelData[0]).toEqual(channelMessage(0x4000, "goes on"));
  });
});
