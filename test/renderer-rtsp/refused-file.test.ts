import { expect, it } from "vitest";
import { refusedFile, stillRefused } from "../../renderer/src/services/rtsp/files/refused-file.ts";

const failure = (hint: string) => ({ code: "MEDIA_UNSUPPORTED", message: "The pictures are MPEG-4 Part 2.", hint });
const hint = "This makes a file that can be streamed: ffmpeg -i FILE -c:v libx264 -c:a copy -movflags +faststart new.mp4";

it.each([
  ["clip.mkv", "clip.mkv", "clip-new.mp4"],
  ["Bob's door.mp4", String.raw`'Bob'\''s door.mp4'`, String.raw`'Bob'\''s door-new.mp4'`],
  ["-y.avi", "./-y.avi", "./-y-new.mp4"],
  [".hidden", ".hidden", ".hidden-new.mp4"],
])("[RTSP-156] the line that converts %s has its name", (name, from, to) => {
  expect(refusedFile(7, name, failure(hint))).toEqual({
    ...{ at: 7, name, reason: "The pictures are MPEG-4 Part 2.", advice: "This makes a file that can be streamed:" },
    command: `ffmpeg -i ${from} -c:v libx264 -c:a copy -movflags +faststart ${to}`,
  });
});

it("[RTSP-156] a hint without a line stays as it is", () => {
  expect(refusedFile(7, "a.mp4", failure("Drop it again when it is complete."))).toMatchObject({
    advice: "Drop it again when it is complete.",
    command: "",
  });
});

it("[RTSP-156] a file is no longer refused once it is added, or what its line has made of it", () => {
  const refused = ["door.mkv", "yard.mp4", "notes.txt"].map((name) => refusedFile(7, name, failure(hint)));
  const [door, yard, notes] = refused;
  expect(stillRefused(refused, "door-new.mp4")).toEqual([yard, notes]);
  expect(stillRefused(refused, "yard.mp4")).toEqual([door, notes]);
  expect(stillRefused(refused, "other.mp4")).toEqual(refused);
});
