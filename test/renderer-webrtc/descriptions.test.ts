import { expect, it } from "vitest";
import {
  candidatesOf,
  endsCandidates,
  readCandidate,
  readCarriedSignal,
  readDescription,
  transportOf,
} from "../../contract/services/webrtc-description.ts";
import { compareDescriptions } from "../../renderer/src/services/webrtc/description/compare-descriptions.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { answer, offer, relayLine } from "./samples.ts";

it("[WEBRTC-400] a description is read by its sections: codecs, direction, candidates by type, fingerprint", () => {
  const read = readDescription(offer);
  expect(read?.groups).toEqual(["BUNDLE 0 1"]);
  expect(read?.media.map(({ kind, mid, direction, port }) => ({ kind, mid, direction, port }))).toEqual([
    { kind: "video", mid: "0", direction: "sendrecv", port: 9 },
    { kind: "application", mid: "1", direction: undefined, port: 9 },
  ]);
  expect(read?.media[0]?.codecs).toEqual([
    { payloadType: "96", name: "VP8/90000" },
    { payloadType: "97", name: "rtx/90000", parameters: "apt=96" },
  ]);
  expect(read && candidatesOf(read).map(({ type, address, port }) => `${type} ${address} ${port}`)).toEqual(["host 192.168.1.5 50001"]);
  expect(read && transportOf(read, read.media[0])).toEqual({ ufrag: "aaaa", fingerprints: ["sha-256 AA:BB"], setup: "actpass" });
  expect(read && endsCandidates(read)).toBe(false);
  expect(readDescription("hello")).toBeUndefined();
  expect(readDescription(`${"v=0\r\n"}${"a=x\r\n".repeat(5_000)}`)?.isCut).toBe(true);
});

it("[WEBRTC-400] of a description with too many codecs or sections a part is read", () => {
  const numbers = (length: number) => Array.from({ length }, (_, number) => number);
  const codecs = readDescription(`v=0\r\nm=video 9 RTP/AVP ${numbers(20_000).join(" ")}\r\n${"a=fmtp:9\r\n".repeat(3_000)}`);
  expect(codecs).toMatchObject({ isCut: true });
  expect(codecs?.media[0]?.codecs).toHaveLength(128);
  const same = readDescription(`v=0\r\nm=audio 9 RTP/AVP 0 0 0 8\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:0 other\r\na=rtpmap:8 PCMA/8000\r\n`);
  expect(same).toMatchObject({ isCut: false });
  expect(same?.media[0]?.codecs.map(({ payloadType, name }) => `${payloadType} ${name}`)).toEqual(["0 PCMU/8000", "8 PCMA/8000"]);
  const sections = readDescription(`v=0\r\n${"a=x\r\n".repeat(1_900)}${"m=audio 9 RTP/AVP 0\r\n".repeat(2_000)}`);
  expect(sections).toMatchObject({ isCut: true });
  expect(sections?.media).toHaveLength(500);
});

it("[WEBRTC-401] a candidate is read with its type, transport, address and what it was made from", () => {
  expect(readCandidate(relayLine, "0")).toEqual({
    foundation: "3",
    component: 1,
    transport: "udp",
    priority: 41885439,
    address: "127.0.0.1",
    port: 50112,
    type: "relay",
    related: { address: "192.168.1.5", port: 40001 },
    mid: "0",
  });
  expect(readCandidate("a=candidate:1 1 TCP 1518214911 fe80::1 9 typ host tcptype active")).toMatchObject({
    transport: "tcp",
    tcpType: "active",
  });
  for (const wrong of ["", "candidate:", "candidate:1 1 udp 1 10.0.0.1 1 typ magic", "candidate:1 1 sctp 1 10.0.0.1 1 typ host"])
    expect(readCandidate(wrong), wrong).toBeUndefined();
});

it("[WEBRTC-402] descriptions and candidates are found in the messages of every dialect", () => {
  const candidate = { candidate: relayLine, sdpMid: "0" };
  for (const message of [
    JSON.stringify({ type: "offer", to: "b", sdp: offer }),
    JSON.stringify({ type: "OFFER", dst: "b", payload: { sdp: { type: "offer", sdp: offer }, connectionId: "c" } }),
    `42${JSON.stringify(["signal", { sdp: { type: "offer", sdp: offer } }])}`,
    JSON.stringify({ type: "publish", topic: "t", from: "a", to: "b", signal: { type: "offer", sdp: offer } }),
  ])
    expect(readCarriedSignal(message), message.slice(0, 40)).toEqual({ sdp: offer });
  for (const message of [
    JSON.stringify({ type: "candidate", to: "b", candidate }),
    JSON.stringify({ type: "CANDIDATE", payload: { candidate } }),
    `42["signal",${JSON.stringify({ candidate })}]`,
  ])
    expect(readCarriedSignal(message), message.slice(0, 40)).toEqual({ candidate: relayLine, mid: "0" });
  expect(readCarriedSignal('{"type":"candidate","to":"b","candidate":null}')).toEqual({ candidate: "" });
  for (const message of ["", "not JSON", "[", '{"type":"chat","text":"v=0"}', `${"[".repeat(10_000)}`])
    expect(readCarriedSignal(message)).toEqual({});
});

it("[WEBRTC-402] no bytes make the readers fail", () => {
  const random = seededRandom(402);
  const texts = [offer, answer, JSON.stringify({ type: "offer", sdp: offer }), relayLine];
  for (let times = 0; times < 500; times++) {
    const text = [...(texts[times % texts.length] as string)];
    for (let changes = 0; changes < 8; changes++) text[random.below(text.length)] = String.fromCharCode(random.below(0x250));
    const changed = text.join("");
    readCandidate(changed);
    readCarriedSignal(changed);
    const description = readDescription(changed);
    if (description) compareDescriptions(description, readDescription(offer));
  }
});

it("[WEBRTC-403] two descriptions are compared by section: what was added, removed and changed is marked", () => {
  const [before, after] = [readDescription(offer), readDescription(answer)];
  if (!before || !after) throw new Error("the samples cannot be read");
  const { sections, changes } = compareDescriptions(after, before);
  const [video] = sections;
  expect(video?.facts.find(({ name }) => name === "Direction")?.value).toEqual({ change: "changed", text: "recvonly", before: "sendrecv" });
  expect(video?.facts.find(({ name }) => name === "Setup")?.value).toEqual({ change: "changed", text: "active", before: "actpass" });
  expect(video?.codecs.map(({ change, item }) => `${change} ${item.name}`)).toEqual(["same VP8/90000", "removed rtx/90000"]);
  expect(video?.candidates.map(({ change, item }) => `${change} ${item.type}`)).toEqual(["removed host"]);
  expect(changes).toBeGreaterThan(4);
  expect(compareDescriptions(before, before).changes).toBe(0);
  expect(compareDescriptions(before).changes).toBe(0);
});
