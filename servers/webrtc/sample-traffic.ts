import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { type SampleViews, sampleAgent } from "../../contract/sample-traffic.ts";
import { createSampleSwitch, type SampleSwitch } from "../core/traffic/sample-switch.ts";

export interface WebrtcSampleOptions {
  readonly port: number;
  readonly show: (view: SampleViews["sample"]) => void;
}

const stepMs = 400;
const pauseMs = 3_000;
const room = "sample";

const fingerprint = Array.from({ length: 32 }, (_, index) => (index * 8).toString(16).toUpperCase().padStart(2, "0")).join(":");

function sdp(ufrag: string, setup: "actpass" | "active"): string {
  const transport = [
    `a=ice-ufrag:${ufrag}`,
    "a=ice-pwd:sample-traffic-of-backlot",
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${setup}`,
  ];
  return [
    ...["v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"],
    ...["m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", ...transport, "a=mid:0", "a=sendrecv", "a=rtcp-mux", "a=rtpmap:96 VP8/90000"],
    ...["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", ...transport, "a=mid:1", "a=sctp-port:5000", ""],
  ].join("\r\n");
}
const candidate = (port: number) => ({
  candidate: `candidate:1 1 udp 2122260223 127.0.0.1 ${port} typ host`,
  sdpMid: "0",
  sdpMLineIndex: 0,
});

/** A client of our own over plain JSON. */
class SampleClient {
  readonly #socket: WebSocket;
  id = "";

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async connect(port: number, signal: AbortSignal): Promise<SampleClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { "User-Agent": sampleAgent } });
    socket.on("error", () => {});
    const client = new SampleClient(socket);
    const [welcome] = (await once(socket, "message", { signal })) as [Buffer];
    client.id = (JSON.parse(welcome.toString()) as { id: string }).id;
    return client;
  }

  send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#socket.close();
  }
}

/** Two clients of our own meet in a room, offer and answer one another a connection, and chat, so that a new user sees traffic. */
export function createWebrtcSampleTraffic({ port, show }: WebrtcSampleOptions): SampleSwitch {
  async function meet(signal: AbortSignal): Promise<void> {
    const clients: SampleClient[] = [];
    const step = () => delay(stepMs, undefined, { signal });
    try {
      clients.push(await SampleClient.connect(port, signal), await SampleClient.connect(port, signal));
      const [anna, ben] = clients as [SampleClient, SampleClient];
      anna.send({ type: "join", room, name: "Anna" });
      await step();
      ben.send({ type: "join", room, name: "Ben" });
      await step();
      ben.send({ type: "offer", to: anna.id, sdp: sdp("ben1", "actpass") });
      ben.send({ type: "candidate", to: anna.id, candidate: candidate(50_001) });
      await step();
      anna.send({ type: "answer", to: ben.id, sdp: sdp("ann1", "active") });
      anna.send({ type: "candidate", to: ben.id, candidate: candidate(50_002) });
      await step();
      anna.send({ type: "chat", room, text: "Can you hear me?" });
      await step();
      ben.send({ type: "chat", room, text: "Loud and clear." });
      await step();
      ben.send({ type: "chat", to: "nobody", text: "Is anyone there?" });
      await step();
      ben.send({ type: "leave", room });
      await step();
    } finally {
      for (const client of clients) client.close();
    }
  }

  async function play(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // The service may refuse or be stopped: then nothing is shown.
      await meet(signal).catch(() => {});
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  return createSampleSwitch({
    show,
    play() {
      const ended = new AbortController();
      void play(ended.signal);
      return () => ended.abort();
    },
  });
}
