import { expect, it } from "vitest";
import { webrtcProvided } from "../../contract/services/rtsp-media.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import type { PeerServices } from "../../servers/core/streams/peer-client.ts";
import { WebPublisher } from "../../servers/rtsp/web/web-publisher.ts";

it("[WEBRTC-552] the WebRTC service is told of the end of a publisher in a form that it takes, however long the reason is", () => {
  const told: unknown[] = [];
  const services = {
    call: async (_provided: unknown, name: string, params: unknown) => void told.push([name, params]),
    open: () => ({ cancel() {} }),
  } as unknown as PeerServices;
  const ended: string[] = [];
  const publisher = new WebPublisher({
    ...{ path: "live", user: undefined, address: "127.0.0.1", session: "one", services, paths: { remove() {} } as never },
    tracks: [{ codec: "opus", payloadType: 111, clockRate: 48_000, channels: 2 }],
    limits: { packetBytes: 1_400, keptBytes: 1 << 20, media: new SharedBudget(1 << 30), silenceMs: 1_000 },
    onEnd: (_publisher, reason) => void ended.push(reason),
  });
  const reason = `${"a".repeat(500)} has a source of its own and takes no publisher`;
  publisher.end(reason, "server");
  expect(ended).toEqual([reason]);
  expect(told).toEqual([["publishEnded", { session: "one", reason: reason.slice(0, 500) }]]);
  const { params } = webrtcProvided.calls.publishEnded as unknown as { readonly params: { parse(value: unknown): unknown } };
  params.parse((told[0] as [string, unknown])[1]);
});
