import { expect, it } from "vitest";
import { type ByteSource, bufferSource } from "../../servers/rtsp/media/mp4/byte-source.ts";
import { readClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import { samplesOfStep } from "../../servers/rtsp/media/mp4/sample-table.ts";
import { buildMp4, mp4Box } from "./mp4-builder.ts";
import { fragmented, sound, video } from "./mp4-samples.ts";

it("[RTSP-106] the index is read in steps, in whichever table the file has many entries", () => {
  const count = 40_000;
  const samples = Array.from({ length: count }, (_, index) => ({ bytes: Buffer.of(index), duration: 1_024, isSync: true }));
  const steps = (samplesPerChunk: number) => {
    const reading = readClip(bufferSource(buildMp4({ tracks: [{ ...sound, samples }], samplesPerChunk })));
    let steps = 0;
    for (;;) {
      const { done, value } = reading.next();
      if (!done) {
        steps++;
        continue;
      }
      expect(value.frameCount).toBe(count);
      return steps;
    }
  };
  // Sizes, times, places, what is shown, and the order.
  for (const samplesPerChunk of [1, count]) expect(steps(samplesPerChunk)).toBeGreaterThanOrEqual(5 * Math.floor(count / samplesOfStep));
});

it("[RTSP-106] no step reads many bytes or boxes, wherever the file has them", () => {
  const boxes = Buffer.concat(Array.from({ length: 5_000 }, () => mp4Box("free")));
  const long = mp4Box("free", Buffer.alloc(6 << 20));
  const withBoxes = (file: Buffer, type: string) => {
    const at = file.indexOf(type) - 4;
    return Buffer.concat([file.subarray(0, at), boxes, file.subarray(at)]);
  };
  const files = [
    withBoxes(buildMp4({ tracks: [video], isMovieLast: true }), "moov"),
    withBoxes(fragmented(), "moof"),
    buildMp4({ tracks: [video], isMovieLast: true, inMovie: long }),
  ];
  for (const file of files) {
    let [reads, bytes, most] = [0, 0, { reads: 0, bytes: 0 }];
    const source = bufferSource(file);
    const counted: ByteSource = {
      ...source,
      read(position, length) {
        [reads, bytes] = [reads + 1, bytes + length];
        most = { reads: Math.max(most.reads, reads), bytes: Math.max(most.bytes, bytes) };
        return source.read(position, length);
      },
    };
    for (const _ of readClip(counted)) [reads, bytes] = [0, 0];
    expect(most.reads).toBeLessThan(100);
    expect(most.bytes).toBeLessThan(2 << 20);
  }
});
