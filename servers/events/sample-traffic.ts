import { samplePluginVersion } from "../../contract/services/events.ts";
import type { HttpSample, SendSample } from "../core/http/http-sample-traffic.ts";
import { createSampleSource } from "./jobs/sample-events.ts";

const plugin = { software: "editor-plugin/0.5.0", headers: { "X-Plugin-Version": samplePluginVersion } };

/** Posts like an editor plugin, and sometimes reads. */
function begin(send: SendSample): () => void {
  const source = createSampleSource(6);
  let turn = 0;
  return () => {
    turn += 1;
    if (turn % 30 === 0) void send({ method: "GET", path: "/stats", ...plugin });
    else if (turn % 30 === 15) void send({ method: "GET", path: "/events?limit=10", ...plugin });
    else void send({ method: "POST", path: "/events", ...plugin }, source.event());
  };
}

export const eventsSample: HttpSample = { intervalMs: 350, maxSockets: 2, begin };
