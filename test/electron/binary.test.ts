import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import { type App, isDouble } from "./launch-app.ts";

interface Frame {
  readonly type: string;
  readonly id?: number;
  readonly value?: unknown;
  readonly seq: number;
  readonly dropped: number;
  readonly header: { readonly n: number };
  readonly payload: Uint8Array;
}
interface Bridge {
  open(listener: (frame: Frame) => void): void;
  post(frame: unknown): void;
}

// The fixture's program is TypeScript, and the fixture's services are no part of the built one.
describe.runIf(isDouble)("binary items in the desktop window", () => {
  let apps: DesktopApps;
  let app: App;

  beforeAll(async () => {
    apps = await createDesktopApps();
    app = await apps.launchOther("test/electron/streams-main.ts");
  });
  afterAll(() => apps.dispose());

  it("[BL-140] [BL-142] arrive as bytes, up to the page's credit, and the others are counted", async () => {
    const seen = await app.page.evaluate(async () => {
      const { backlot } = window as unknown as { backlot: Bridge };
      const items: Frame[] = [];
      let dropped = 0;
      let wake = () => {};
      const waiting = new Map<number, (value: unknown) => void>();
      backlot.open((frame) => {
        if (frame.type === "binary") items.push(frame);
        if (frame.type === "binary" || frame.type === "binaryDropped") dropped += frame.dropped;
        if (frame.type === "result") waiting.get(frame.id as number)?.(frame.value);
        wake();
      });
      let id = 2_000_000;
      const publish = (params: object) =>
        new Promise<{ wanted: boolean }>((resolve) => {
          waiting.set(++id, resolve as (value: unknown) => void);
          backlot.post({ type: "call", id, name: "service.action", params: { id: "rtsp", action: "publish", params } });
        });
      const until = async (done: () => boolean) => {
        while (!done()) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      };
      const source = { topic: "samples", source: "/cam1" };
      backlot.post({ type: "binarySubscribe", subscription: 7, service: "rtsp", ...source });
      while (!(await publish({ ...source, items: 0, bytes: 0 })).wanted);
      await publish({ ...source, items: 100, bytes: 20_000 });
      await until(() => items.length === 5);
      const withoutAck = items.length;
      backlot.post({ type: "binaryAck", subscription: 7, seq: 5 });
      await until(() => items.length + dropped === 100);
      return {
        withoutAck,
        delivered: items.length,
        isBytes: items.every(({ payload }) => payload instanceof Uint8Array && payload.length === 20_000),
        numbers: items.slice(0, 5).map(({ header, payload }) => [header.n, payload[0], payload.at(-1)]),
      };
    });
    expect(seen).toEqual({ withoutAck: 5, delivered: 5, isBytes: true, numbers: [1, 2, 3, 4, 5].map((n) => [n, n, n]) });
  });
});
