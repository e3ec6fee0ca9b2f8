import { expect, it } from "vitest";
import type { RtspPictureHeader } from "../../contract/services/rtsp.ts";
import { type PictureCodec, PictureDecoder, type PictureState } from "../../renderer/src/services/rtsp/picture/picture-decoder.ts";
import { canvasSize } from "../../renderer/src/services/rtsp/picture/picture-painter.ts";

interface Shown {
  readonly timestamp: number;
}

/** A page whose browser decodes what it is told to, when it is told to. */
function openPicture(supported: (codec: string) => boolean = () => true) {
  const shown: number[] = [];
  const states: PictureState[] = [];
  const decoders: { output(picture: Shown): void; error(error: Error): void; queue: number[]; codec: string; wake(): void }[] = [];
  const seen = { skipped: 0, nowMs: 0, sentAt: [] as number[] };
  const decoder = new PictureDecoder<Shown>({
    codecs: {
      supports: async ({ codec }) => supported(codec),
      createDecoder(init) {
        const made = { ...init, queue: [] as number[], codec: "", wake: () => {} };
        decoders.push(made);
        const codec: PictureCodec = {
          configure({ codec: name }) {
            made.codec = name;
          },
          decode: (chunk) => void made.queue.push(chunk.timestamp),
          reset() {},
          close() {},
          get decodeQueueSize() {
            return made.queue.length;
          },
          ondequeue: null,
        };
        made.wake = () => codec.ondequeue?.call(codec as VideoDecoder, new Event("dequeue"));
        return codec;
      },
      createChunk: (init) => init as unknown as EncodedVideoChunk,
    },
    onPicture(picture, sentAt) {
      shown.push(picture.timestamp);
      seen.sentAt.push(sentAt);
    },
    onState: (state) => void states.push(state),
    onSkipped(count) {
      seen.skipped += count;
    },
    now: () => seen.nowMs,
  });
  const take = (n: number, codec?: string, size?: RtspPictureHeader["size"]) => {
    const header: RtspPictureHeader = {
      ...{ n, timeUs: n * 1_000, sentAt: seen.nowMs + n },
      ...(codec !== undefined && { codec }),
      ...(size && { size }),
    };
    return decoder.take({ header, payload: new Uint8Array(), isKey: codec !== undefined });
  };
  /** All that the newest decoder has. */
  const decode = () => {
    const made = decoders.at(-1);
    for (const timestamp of made?.queue.splice(0) ?? []) made?.output({ timestamp });
    made?.wake();
  };
  return { decoder, decoders, shown, states, seen, take, decode };
}

const avc = "avc1.64001e";

it("[RTSP-64] begins with a key frame, and takes a frame that comes again once", async () => {
  const { decoders, shown, states, seen, take, decode } = openPicture();
  await take(1);
  await take(2, avc);
  await take(3);
  decode();
  for (const n of [2, 3]) await take(n, n === 2 ? avc : undefined);
  await take(4);
  decode();
  expect(shown).toEqual([2_000, 3_000, 4_000]);
  expect(seen.sentAt).toEqual([2, 3, 4]);
  expect(seen.skipped).toBe(1);
  expect(decoders.map(({ codec }) => codec)).toEqual([avc]);
  expect(states).toEqual([{ state: "playing" }]);
});

it("[RTSP-64] goes on with the next key frame when it is behind, and counts what it leaves out", async () => {
  const { shown, seen, take, decode, decoders } = openPicture();
  await take(1, avc);
  decode();
  // The decoder has enough: the others wait, and count against the window of the channel.
  const taken = Array.from({ length: 20 }, (_, index) => take(index + 2));
  await taken[7];
  seen.nowMs = 2_000;
  decode();
  await Promise.all(taken);
  expect(shown).toEqual(Array.from({ length: 10 }, (_, index) => (index + 1) * 1_000));
  expect(seen.skipped).toBe(11);
  await take(22, avc);
  await take(23);
  decode();
  expect(shown.slice(10)).toEqual([22_000, 23_000]);
  expect(decoders.length).toBe(2);
});

it("[RTSP-64] goes on with the next key frame after a gap and after an error, and says when nothing helps", async () => {
  const { decoder, decoders, shown, states, seen, take, decode } = openPicture();
  await take(1, avc);
  decode();
  decoder.dropped(5);
  await take(7);
  await take(8, avc);
  decode();
  expect(shown).toEqual([1_000, 8_000]);
  expect(seen.skipped).toBe(6);
  for (const n of [9, 10, 11]) {
    await take(n, avc);
    decoders.at(-1)?.error(new Error("Decoding error."));
  }
  expect(states).toEqual([{ state: "playing" }, { state: "failed", reason: "Decoding error." }]);
  await take(12, avc);
  decode();
  expect(shown.at(-1)).toBe(12_000);
  expect(states.at(-1)).toEqual({ state: "playing" });
});

it("[RTSP-64] names a codec that the browser cannot decode, and plays on where the stream changes to another", async () => {
  const { shown, states, seen, take, decode } = openPicture((codec) => codec === avc);
  await take(1, "hvc1.1.6.L93.B0");
  await take(2);
  expect(states).toEqual([{ state: "unsupported", codec: "hvc1.1.6.L93.B0" }]);
  expect(seen.skipped).toBe(0);
  await take(3, avc);
  decode();
  expect(shown).toEqual([3_000]);
});

it("[RTSP-217] makes a few decoders at once, and then one a second, however often the codec changes or decoding fails", async () => {
  const asked: string[] = [];
  const { decoders, shown, seen, take, decode } = openPicture((codec) => asked.push(codec) > 0);
  for (let n = 1; n <= 100; n++) await take(n, `avc1.6400${10 + (n % 50)}`);
  expect([decoders.length, asked.length]).toEqual([5, 5]);
  expect(seen.skipped).toBeGreaterThanOrEqual(95);
  seen.nowMs = 1_000;
  for (let n = 101; n <= 200; n++) {
    await take(n, avc);
    decoders.at(-1)?.error(new Error("no picture"));
  }
  expect(decoders.length).toBe(6);
  seen.nowMs = 2_000;
  await take(201, avc);
  await take(202, avc);
  decode();
  expect(decoders.length).toBe(7);
  expect(shown).toEqual([201_000, 202_000]);
});

it("[RTSP-213] gives the decoder no pictures that are too large, and goes on when they are smaller again", async () => {
  const { decoders, states, take, decode } = openPicture();
  await take(1, avc, { width: 8_192, height: 8_192 });
  await take(2);
  expect(decoders).toHaveLength(0);
  expect(states.at(-1)).toEqual({ state: "too-large", width: 8_192, height: 8_192 });
  await take(3, avc, { width: 3_840, height: 2_160 });
  decode();
  expect(decoders).toHaveLength(1);
  expect(states.at(-1)).toEqual({ state: "playing" });
});

it("[RTSP-213] paints a large picture smaller, in its proportions", () => {
  expect(canvasSize(1_280, 720)).toEqual({ width: 1_280, height: 720 });
  expect(canvasSize(3_840, 2_160)).toEqual({ width: 1_920, height: 1_080 });
  const { width, height } = canvasSize(16_000, 100);
  expect(width * height).toBeLessThanOrEqual(1_930 * 1_080);
  expect(canvasSize(1, 10_000_000).width).toBe(1);
});
