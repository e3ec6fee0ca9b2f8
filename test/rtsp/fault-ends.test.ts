import { expect, it } from "vitest";
import { shownAddress } from "../../servers/core/credentials/masked-secrets.ts";
import { FaultRegistry } from "../../servers/core/faults/fault-registry.ts";
import { until } from "../support/until.ts";

it("[RTSP-269] faults that end at the same moment end in turns, and one that began meanwhile stays", async () => {
  const registry = new FaultRegistry<number, { kind: string }>();
  for (let target = 0; target < 5_000; target++) registry.start(target, { fault: { kind: "delay" }, forMs: 1 });
  let [inTurn, most] = [0, 0];
  registry.onTarget((target) => {
    most = Math.max(most, ++inTurn);
    if (inTurn === 1)
      setImmediate(() => {
        inTurn = 0;
      });
    if (target === 0) registry.start(4_999, { fault: { kind: "delay" } });
  });
  await until(() => registry.list().length === 1);
  expect(registry.list()).toMatchObject([{ target: 4_999, faults: [{ until: Number.POSITIVE_INFINITY }] }]);
  expect(most).toBeLessThanOrEqual(500);
});

it("[RTSP-268] a password in the path of a camera's address is not shown", () => {
  expect(shownAddress("rtsp://cam:554/user=ada&password=QuErY&channel=1&stream=0.sdp")).toBe(
    "rtsp://cam:554/user=ada&password=…&channel=1&stream=0.sdp",
  );
  expect(shownAddress("rtsp://cam/user=ada_password=QuErY_channel=1_stream=0.sdp?real_stream")).toBe("rtsp://cam/user=…?real_stream");
  expect(shownAddress("rtsp://cam/channel=1/a=b")).toBe("rtsp://cam/channel=1/a=b");
});
