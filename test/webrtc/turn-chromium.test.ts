import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueCredentials } from "../../servers/webrtc/turn/time-limited-credentials.ts";
import { chromiumOptions } from "../support/chromium-options.ts";
import { until } from "../support/until.ts";
import { secret, startTurn, testCertificates } from "./turn-harness.ts";

let browser: Browser;
beforeAll(async () => {
  // Nothing trusts the certificate of a test.
  browser = await chromium.launch({ ...chromiumOptions, args: [...chromiumOptions.args, "--ignore-certificate-errors"] });
});
afterAll(() => browser.close());

interface IceServer {
  readonly urls: string;
  readonly username: string;
  readonly credential: string;
}

/** Two ends in one page that may use relays only. Resolves with the answer to a message, and the types of the candidates in use. */
async function callThroughRelays(server: IceServer): Promise<{ readonly answer: string; readonly types: readonly string[] }> {
  const configuration: RTCConfiguration = { iceServers: [server], iceTransportPolicy: "relay" };
  const [one, other] = [new RTCPeerConnection(configuration), new RTCPeerConnection(configuration)];
  one.onicecandidate = ({ candidate }) => void other.addIceCandidate(candidate ?? undefined);
  other.onicecandidate = ({ candidate }) => void one.addIceCandidate(candidate ?? undefined);
  other.ondatachannel = ({ channel }) => {
    channel.onmessage = ({ data }) => channel.send(`${data} and back`);
  };
  const channel = one.createDataChannel("test");
  const answer = new Promise<string>((resolve) => {
    channel.onmessage = ({ data }) => resolve(data);
    channel.onopen = () => channel.send("there");
  });
  await one.setLocalDescription();
  await other.setRemoteDescription(one.localDescription as RTCSessionDescription);
  await other.setLocalDescription();
  await one.setRemoteDescription(other.localDescription as RTCSessionDescription);
  const received = await answer;
  const stats = [...(await one.getStats()).values()];
  const pair = stats.find(({ type, nominated }) => type === "candidate-pair" && nominated);
  const types = [pair?.localCandidateId, pair?.remoteCandidateId].map((id) => stats.find((entry) => entry.id === id)?.candidateType);
  one.close();
  other.close();
  return { answer: received, types };
}

it.each(["udp", "tcp", "tls"] as const)("[WEBRTC-71] two ends in Chromium exchange data by relays alone, over %s", async (transport) => {
  const server = await startTurn(
    transport === "tls" ? { tls: { port: 0, certificates: await testCertificates(), tlsHandshakes: 100 } } : {},
  );
  const page = await browser.newPage();
  const { username, credential } = issueCredentials(secret, "page", 600);
  const { port, tlsPort } = server;
  const urls = transport === "tls" ? `turns:localhost:${tlsPort}?transport=tcp` : `turn:127.0.0.1:${port}?transport=${transport}`;
  const iceServer = { urls, username, credential };
  expect(await page.evaluate(callThroughRelays, iceServer)).toEqual({ answer: "there and back", types: ["relay", "relay"] });
  expect(server.opened.map(({ user, client }) => [user, client.transport])).toEqual(expect.arrayContaining([["page", transport]]));
  await page.close();
  // Chromium ends its allocations when the connections are closed.
  await until(() => server.engine.statistics().allocations === 0);
});
