import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import type { HlsFile } from "../../servers/rtsp/management/hls-outputs.ts";
import { listenManagement, type ManagementServerOptions } from "../../servers/rtsp/management/management-server.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";

it("[RTSP-205] thousands who wait for the same playlist are answered in turns", async () => {
  const [connections, each] = [20, 10];
  let nowMs = 0;
  let [asked, answered] = [0, 0];
  const segment = Promise.withResolvers<HlsFile>();
  const options: Pick<ManagementServerOptions, "routes" | "faults" | "turns" | "limits" | "port" | "openToLan" | "onStop"> = {
    ...{ routes: [], faults: new Faults(), turns: new WorkTurns(() => nowMs), port: 0, openToLan: false, onStop: onEnd },
    limits: { connections: 100, connectionsPerAddress: 100, allUnsentBytes: 1 << 30, unreadTimeoutMs: 60_000 },
  };
  const port = await listenManagement({
    ...options,
    access: { check: async () => undefined },
    hls: {
      file() {
        asked++;
        return segment.promise;
      },
    },
    readers: {
      fetched() {
        nowMs += 0.125;
        answered++;
      },
    },
  } as unknown as ManagementServerOptions);
  for (let index = 0; index < connections; index++) {
    const socket = connect(port, "127.0.0.1").resume();
    onEnd(() => void socket.destroy());
    socket.write("GET /live/index.m3u8 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(each));
  }
  await until(() => asked === connections * each);
  segment.resolve({ type: "text/plain", body: "#EXTM3U\n" });
  for (let before = 0; answered < connections * each; before = answered) {
    await nextTurn();
    expect(answered - before).toBeLessThan(100);
  }
});
