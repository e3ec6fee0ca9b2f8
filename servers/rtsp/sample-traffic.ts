import { setTimeout as delay } from "node:timers/promises";
import { type SampleViews, sampleAgent } from "../../contract/sample-traffic.ts";
import { createSampleSwitch, type SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { WorkTurns } from "../core/turns/work-turns.ts";
import { RtspClient } from "./client/rtsp-client.ts";
import { sessionIdOf } from "./protocol/header-fields.ts";
import { headerOf } from "./protocol/message.ts";

export interface RtspSampleOptions {
  readonly port: number;
  readonly turns: WorkTurns;
  readonly show: (view: SampleViews["sample"]) => void;
}

const playMs = 8_000;
const pauseMs = 1_500;
const timeoutMs = 5_000;

/** Clients of our own on loopback that play the test streams for some seconds, so that a new user sees traffic. */
export function createRtspSampleTraffic({ port, turns, show }: RtspSampleOptions): SampleSwitch {
  async function playOnce(path: string, signal: AbortSignal): Promise<void> {
    const uri = `rtsp://127.0.0.1:${port}/${path}`;
    const client = await RtspClient.connect({
      host: "127.0.0.1",
      port,
      userAgent: sampleAgent,
      turns,
      timeoutMs,
      onPacket() {},
      onClosed() {},
    });
    const close = () => client.close();
    signal.addEventListener("abort", close);
    try {
      await client.request("OPTIONS", uri);
      await client.request("DESCRIBE", uri, [["Accept", "application/sdp"]]);
      const answer = await client.request("SETUP", `${uri}/trackID=0`, [["Transport", "RTP/AVP/TCP;unicast;interleaved=0-1"]]);
      const session = ["Session", sessionIdOf(headerOf(answer.headers, "Session") ?? "") ?? ""] as const;
      await client.request("SETUP", `${uri}/trackID=1`, [session, ["Transport", "RTP/AVP/TCP;unicast;interleaved=2-3"]]);
      await client.request("PLAY", uri, [session, ["Range", "npt=0-"]]);
      await delay(playMs, undefined, { signal });
      await client.request("TEARDOWN", uri, [session]);
    } finally {
      signal.removeEventListener("abort", close);
      client.close();
    }
  }

  /** Each in its turn: a stream that exists, then one that does not. */
  async function play(signal: AbortSignal): Promise<void> {
    const paths = ["stream", "test", "stream", "missing"];
    for (let turn = 0; !signal.aborted; turn++) {
      // The service may refuse or be stopped: then nothing is shown.
      await playOnce(paths[turn % paths.length] as string, signal).catch(() => {});
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
