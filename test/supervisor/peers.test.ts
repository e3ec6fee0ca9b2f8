import { describe, expect, it } from "vitest";
import { provided } from "../../contract/provided.ts";
import { noPeers } from "../../servers/core/streams/peer-client.ts";
import type { StreamState } from "./fixture-streams.ts";
import { streamFixtures } from "./fixture-streams.ts";
import { supervise } from "./supervise.ts";

interface Read {
  readonly items: readonly number[];
  readonly bytes: number;
  readonly failure?: string;
  readonly code?: string;
}

/** rtsp provides, webrtc asks. */
async function startBoth() {
  const { supervisor, dashboard } = await supervise({ services: streamFixtures });
  await Promise.all([supervisor.start("rtsp"), supervisor.start("webrtc")]);
  const act = (action: string, params: Record<string, unknown>) => dashboard.call("service.action", { id: "webrtc", action, params });
  return {
    supervisor,
    dashboard,
    call: (name: string, value?: string) => act("call", { service: "rtsp", name, ...(value !== undefined && { value }) }),
    refusal: (name: string) =>
      dashboard.refusal("service.action", { id: "webrtc", action: "call", params: { service: "rtsp", name, value: "x".repeat(200) } }),
    read: (params: Record<string, unknown>) => act("read", { service: "rtsp", ...params }) as Promise<Read>,
    hold: (bytes: number) => act("hold", { service: "rtsp", bytes }),
    state: () => act("call", { service: "rtsp", name: "state" }) as Promise<StreamState>,
    /** What the provider says of itself, asked by itself. */
    ownState: () =>
      dashboard.call("service.action", { id: "rtsp", action: "call", params: { service: "rtsp", name: "state" } }) as Promise<StreamState>,
  };
}

describe("calls from one service to another", () => {
  it("[BL-145] are answered by the other process; wrong parameters and its errors are reported as such", async () => {
    const { supervisor, call, refusal } = await startBoth();
    const status = supervisor.views().find(({ id }) => id === "rtsp")?.status;
    expect(await call("echo", "hello")).toEqual({ value: "hello", by: status?.state === "running" && status.pid });
    expect(await refusal("echo")).toMatchObject({ code: "CALL_INVALID", message: expect.stringMatching(/^The value /) });
    expect(await refusal("refuse")).toMatchObject({
      code: "STORE_FULL",
      message: "refused by the fixture",
      hint: "Ask for something else.",
    });
  });

  it("[BL-146] fail with SERVICE_NOT_RUNNING, which names the other service, if it is stopped, stops or crashes meanwhile", async () => {
    const { supervisor, dashboard, call, refusal } = await startBoth();
    const hanging = refusal("hang");
    // By the same way, so the one before it has arrived.
    await call("echo", "x");
    await supervisor.stop("rtsp");
    expect(await hanging).toMatchObject({ code: "SERVICE_NOT_RUNNING", message: "Stream rtsp was stopped" });
    expect(await refusal("echo")).toEqual({ code: "SERVICE_NOT_RUNNING", message: "Stream rtsp is not running", hint: "Start it first." });
    await supervisor.start("rtsp");
    const again = refusal("hang");
    await call("echo", "x");
    await dashboard.refusal("service.action", { id: "rtsp", action: "exit", params: {} });
    expect(await again).toMatchObject({ code: "SERVICE_NOT_RUNNING", message: "Stream rtsp crashed" });
  });

  it("[BL-146] of a service without a supervisor fail the same way", async () => {
    const nobody = provided({ service: "rtsp", calls: {}, streams: {} });
    await expect(noPeers.call(nobody, "x" as never, {} as never)).rejects.toMatchObject({ code: "SERVICE_NOT_RUNNING" });
    const stream = noPeers.open(nobody, "x" as never, {} as never);
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ message: "rtsp is not running" });
  });
});

describe("streams from one service to another", () => {
  it("[BL-147] deliver every item in order, with its bytes, and end", async () => {
    const { read } = await startBoth();
    const { items, bytes, failure } = await read({ stream: "numbers", items: 2_000, bytes: 700 });
    expect(items).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
    expect([bytes, failure]).toEqual([2_000 * 700, undefined]);
    expect(await read({ stream: "numbers", items: 0 })).toEqual({ items: [], bytes: 0 });
    // Larger than all of the credit.
    expect(await read({ stream: "numbers", items: 3, bytes: 50_000 })).toEqual({ items: [1, 2, 3], bytes: 150_000 });
  });

  it("[BL-147] fail with the sender's error, after what was sent", async () => {
    const { read } = await startBoth();
    expect(await read({ stream: "numbers", items: 20, fails: true })).toEqual({
      items: Array.from({ length: 20 }, (_, index) => index + 1),
      bytes: 0,
      failure: "the stream broke",
      code: "STORE_FULL",
    });
  });

  it("[BL-148] send no more than the reader has credit for, in items and in bytes", async () => {
    const { hold, ownState } = await startBoth();
    await hold(100);
    await expect.poll(async () => (await ownState()).dropped).toBeGreaterThan(20);
    // 8 items or 10,000 bytes.
    expect((await ownState()).sent).toBe(8);
    await hold(4_000);
    await expect.poll(async () => (await ownState()).open).toBe(2);
    await expect.poll(async () => (await ownState()).dropped).toBeGreaterThan(60);
    expect((await ownState()).sent).toBe(8 + 2);
  });

  it("[BL-149] are cancelled by their reader, and the sender is told", async () => {
    const { read, ownState } = await startBoth();
    expect((await read({ stream: "numbers", items: 100_000, bytes: 100, leaveAfter: 5 })).items).toEqual([1, 2, 3, 4, 5]);
    await expect.poll(async () => (await ownState()).aborted).toBe(1);
    expect(await ownState()).toMatchObject({ open: 0 });
    expect((await ownState()).sent).toBeLessThan(50);
  });

  it("[BL-149] end with a failure when their sender is stopped or crashes, and must then be opened again", async () => {
    const { supervisor, dashboard, read, ownState } = await startBoth();
    const cut = read({ stream: "live", bytes: 10 });
    await expect.poll(async () => (await ownState()).sent).toBeGreaterThan(10);
    await supervisor.stop("rtsp");
    expect(await cut).toMatchObject({ failure: "Stream rtsp was stopped", code: "SERVICE_NOT_RUNNING" });
    expect(await read({ stream: "live", bytes: 10 })).toMatchObject({ items: [], failure: "Stream rtsp is not running" });
    await supervisor.start("rtsp");
    const torn = read({ stream: "live", bytes: 10 });
    await expect.poll(async () => (await ownState()).sent).toBeGreaterThan(10);
    await dashboard.refusal("service.action", { id: "rtsp", action: "exit", params: {} });
    expect(await torn).toMatchObject({ failure: "Stream rtsp crashed", code: "SERVICE_NOT_RUNNING" });
  });

  it("[BL-149] end at their sender when the reader's process crashes or is stopped", async () => {
    const { supervisor, dashboard, hold, ownState } = await startBoth();
    await hold(10);
    await expect.poll(async () => (await ownState()).open).toBe(1);
    await dashboard.refusal("service.action", { id: "webrtc", action: "exit", params: {} });
    await expect.poll(async () => (await ownState()).open).toBe(0);
    await supervisor.start("webrtc");
    await hold(10);
    await expect.poll(async () => (await ownState()).open).toBe(1);
    await supervisor.stop("webrtc");
    await expect.poll(async () => (await ownState()).open).toBe(0);
    expect((await ownState()).aborted).toBe(2);
  });
});
