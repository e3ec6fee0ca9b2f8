import { describe, expect, it } from "vitest";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { lanAddress } from "../support/udp-sockets.ts";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";
import { MediaPeer } from "./media-peer.ts";
import { addressesOf, errorOf, Peer, TurnClientUnderTest } from "./turn-harness.ts";
import { startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const lan = lanAddress ?? "";

const turnOf = (service: WebrtcUnderTest) => ({ port: Number(/:(\d+)$/.exec(service.urlOf("TURN"))?.[1]), tlsPort: 0 });

/** A client whose socket is connected gets nothing from another address than that to which it sends. */
describe.runIf(lanAddress !== undefined)("WebRTC open to the LAN", () => {
  it.each([
    [lan, "127.0.0.1"],
    ["127.0.0.1", lan],
    [lan, lan],
  ])("[WEBRTC-583] STUN and TURN over UDP answer a client that sends from %s from the address that it asks, %s", async (from, to) => {
    const service = await startWebrtc({ openToLan: true, turnUsers: ["ada:lovelace"] });
    const client = await TurnClientUnderTest.connect(turnOf(service), "udp", to, from);
    const answer = await client.raw(stunMethods.binding, []);
    expect(addressesOf(answer, stunAttributes.xorMappedAddress)).toMatchObject([{ address: from }]);
    const [relayed] = await client.relayed();
    expect(relayed?.address).toBe(lan);
    // A peer sees the relayed address, and data comes back by the same socket.
    const peer = await Peer.open(lan);
    expect(errorOf(await client.permit(lan))).toBe(0);
    client.indicate(lan, peer.port, Buffer.from("out"));
    await peer.next();
    peer.socket.send("back", relayed?.port ?? 0, lan);
    await until(() => client.received().some(({ data }) => data === "back"));
  });

  it("[WEBRTC-583] a relay sends from its relayed address, also to a peer on loopback", async () => {
    const service = await startWebrtc({ openToLan: true, turnUsers: ["ada:lovelace"] });
    const client = await TurnClientUnderTest.connect(turnOf(service));
    const [relayed] = await client.relayed();
    const peer = await Peer.open();
    const sources: string[] = [];
    peer.socket.on("message", (_data, from) => void sources.push(`${from.address}:${from.port}`));
    expect(errorOf(await client.permit("127.0.0.1"))).toBe(0);
    client.indicate("127.0.0.1", peer.port, Buffer.from("out"));
    await peer.next();
    expect(sources).toEqual([`${lan}:${relayed?.port}`]);
  });

  it("[WEBRTC-583] media of WHEP comes from the candidate that the client checks", async () => {
    const services = await startMediaServices({ webrtc: { openToLan: true } });
    const peer = await MediaPeer.play(services, "stream", lan);
    await until(() => peer.video.packets > 20);
    peer.close();
  });
});
