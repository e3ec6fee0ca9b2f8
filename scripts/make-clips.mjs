// Makes the clips of servers/rtsp/assets with Debian's ffmpeg. Run by hand after a change of the picture; the outputs are committed.
//
// A pass has 240 frames at 25 a second: 9.6 s are 450 frames of AAC at 48 kHz and 480 of Opus as well, so the timestamps of all tracks go
// on over the end of a loop. The sound is encoded for three passes, of which the middle one is kept: its first frame continues its last one.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const assets = path.resolve(import.meta.dirname, "../servers/rtsp/assets");
const frameRate = 25;
const frames = 240;
const seconds = frames / frameRate;
const sampleRate = 48_000;

/** Squares in the first row: white, black, then the number of the frame, its highest bit first. A square is a 40th of the width. */
const barcodeBits = 8;

const work = mkdtempSync(path.join(os.tmpdir(), "backlot-clips-"));
const ffmpeg = (...args) =>
  execFileSync("ffmpeg", ["-hide_banner", "-loglevel", "error", "-y", ...args], { stdio: ["ignore", "inherit", "inherit"] });

function barcode(width) {
  const side = width / 40;
  const square = (index, colour, enable) =>
    `drawbox=x=${index * side}:y=0:w=${side}:h=${side}:color=${colour}:t=fill${enable === undefined ? "" : `:enable='${enable}'`}`;
  const bits = Array.from({ length: barcodeBits }, (_, bit) => {
    const value = 2 ** (barcodeBits - 1 - bit);
    return square(bit + 2, "white", `gte(mod(n,${2 * value}),${value})`);
  });
  // High enough to hide the pattern's own number.
  return [`drawbox=x=0:y=0:w=${(barcodeBits + 2) * side}:h=${Math.max(side, 40)}:color=black:t=fill`, square(0, "white"), ...bits].join(
    ",",
  );
}

function makePictures(file, title, width, height, quality) {
  const text = (value, y, size) =>
    `drawtext=font=monospace:text='${value}':fontsize=h/${size}:fontcolor=white:box=1:boxborderw=${height / 60}:boxcolor=black@0.7:x=(w-tw)/2:y=${y}`;
  // The colours of the pattern are too loud for a page.
  const filters = [
    "hue=s=0.45",
    "eq=brightness=-0.08",
    barcode(width),
    text(title, "h*0.62", 18),
    text("%{pts\\:hms}  %{eif\\:n\\:d\\:3}", "h*0.76", 11),
  ];
  ffmpeg(
    ...["-f", "lavfi", "-i", `testsrc2=size=${width}x${height}:rate=${frameRate}:duration=${seconds}`],
    ...["-vf", filters.join(",")],
    ...["-c:v", "libx264", "-profile:v", "high", "-pix_fmt", "yuv420p", "-preset", "veryslow", "-crf", String(quality)],
    ...[
      "-bf",
      "0",
      "-g",
      String(frameRate),
      "-keyint_min",
      String(frameRate),
      "-sc_threshold",
      "0",
      "-threads",
      "1",
      "-x264-params",
      "slices=1",
    ],
    // The encoder's name and settings, in every key frame.
    ...["-bsf:v", "filter_units=remove_types=6", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-video_track_timescale", "90000", file],
  );
}

/** A quiet fifth, with a tick each second of a pass to hear that sound and picture belong together. */
function makeSound(file, codec, frameSamples, codecDelay) {
  const tone = (hertz) => `0.05*sin(2*PI*${hertz}*t)+0.25*sin(2*PI*1000*t)*lt(mod(mod(t,${seconds}),1),0.04)`;
  const period = (seconds * sampleRate) / frameSamples;
  const first = period + Math.round(codecDelay / frameSamples);
  const all = path.join(work, `three-${path.basename(file)}`);
  ffmpeg(
    ...["-f", "lavfi", "-i", `aevalsrc='${tone(440)}|${tone(660)}':s=${sampleRate}:d=${3 * seconds + 0.1}`],
    ...codec,
    ...["-ac", "2", "-fflags", "+bitexact", "-flags:a", "+bitexact", all],
  );
  ffmpeg(
    ...["-i", all, "-c", "copy", "-fflags", "+bitexact"],
    ...[
      "-bsf:a",
      `noise=drop='not(between(n,${first},${first + period - 1}))',setts=ts='N*${frameSamples}':duration=${frameSamples}:time_base=1/${sampleRate}`,
    ],
    ...["-use_editlist", "0", file],
  );
}

try {
  mkdirSync(assets, { recursive: true });
  const aac = path.join(work, "aac.mp4");
  makeSound(aac, ["-c:a", "aac", "-b:a", "64k"], 1_024, 1_024);
  const clips = [
    { name: "stream.mp4", title: "Backlot /stream 640x360", width: 640, height: 360, quality: 26 },
    { name: "test.mp4", title: "Backlot /test 1280x720", width: 1_280, height: 720, quality: 27 },
  ];
  for (const { name, title, width, height, quality } of clips) {
    const pictures = path.join(work, name);
    makePictures(pictures, title, width, height, quality);
    ffmpeg(
      ...["-i", pictures, "-i", aac, "-map", "0:v", "-map", "1:a", "-c", "copy", "-fflags", "+bitexact", "-map_metadata", "-1"],
      ...["-video_track_timescale", "90000", "-use_editlist", "0", "-movflags", "+faststart", path.join(assets, name)],
    );
  }
  // The same sound as Opus, for WebRTC. Prepared for loss it predicts nothing from the packets before, which a player that joins has not heard.
  makeSound(path.join(assets, "sound-opus.mp4"), ["-c:a", "libopus", "-b:a", "64k", "-vbr", "off", "-packet_loss", "30"], 960, 0);
  for (const name of ["stream.mp4", "test.mp4", "sound-opus.mp4"]) console.log(name, statSync(path.join(assets, name)).size);
} finally {
  rmSync(work, { recursive: true, force: true });
}
