/** A moving picture with a clock, and a tone. */
export interface TestPicture {
  readonly stream: MediaStream;
  /** Browsers let a page make sound only after a click. */
  resume(): void;
  stop(): void;
}

const width = 640;
const height = 360;
const framesPerSecond = 25;
const toneHz = 440;
const toneGain = 0.05;
/** The colour bars of a test picture, by their tokens. */
const bars = ["--bl-text", "--bl-s3", "--bl-s6", "--bl-s2", "--bl-s4", "--bl-s5", "--bl-s1"];

/** `name` is written below the clock. */
export function createTestPicture(name: () => string): TestPicture {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  const styles = getComputedStyle(document.documentElement);
  const color = (token: string) => styles.getPropertyValue(token);
  const mono = color("--bl-mono");
  let frame = 0;

  function draw(): void {
    if (!context) return;
    frame++;
    const barWidth = width / bars.length;
    for (const [index, token] of bars.entries()) {
      context.fillStyle = color(token);
      context.fillRect(Math.floor(index * barWidth), 0, Math.ceil(barWidth), height);
    }
    context.fillStyle = color("--bl-well");
    context.fillRect(width / 2 - 170, height / 2 - 62, 340, 124);
    context.fillStyle = color("--bl-text");
    context.textAlign = "center";
    context.font = `44px ${mono}`;
    context.fillText(clockText(new Date()), width / 2, height / 2 + 2);
    context.font = `18px ${mono}`;
    context.fillText(`${name().slice(0, 24)} ${frame}`.trim(), width / 2, height / 2 + 38);
    // Moves once across in four seconds: a picture that stands still is seen at once.
    context.fillStyle = color("--bl-accent-fill");
    context.fillRect(((frame % (4 * framesPerSecond)) / (4 * framesPerSecond)) * width, height - 24, 48, 24);
  }

  draw();
  // Not by animation frames: they stop while the page is in the background.
  const timer = setInterval(draw, 1_000 / framesPerSecond);
  const stream = canvas.captureStream(framesPerSecond);
  const sound = new AudioContext();
  const tone = new OscillatorNode(sound, { frequency: toneHz });
  const destination = new MediaStreamAudioDestinationNode(sound);
  tone.connect(new GainNode(sound, { gain: toneGain })).connect(destination);
  tone.start();
  for (const track of destination.stream.getAudioTracks()) stream.addTrack(track);
  return {
    stream,
    resume: () => void sound.resume().catch(() => {}),
    stop() {
      clearInterval(timer);
      void sound.close().catch(() => {});
      for (const track of stream.getTracks()) track.stop();
    },
  };
}

function clockText(now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}.${Math.floor(now.getMilliseconds() / 100)}`;
}
