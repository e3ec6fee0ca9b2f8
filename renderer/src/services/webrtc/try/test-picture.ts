const size = { width: 320, height: 180 };
const frameRate = 25;
/** As a television shows it without a programme. */
const bars = ["#c0c0c0", "#c0c000", "#00c0c0", "#00c000", "#c000c0", "#c00000", "#0000c0"];

export interface TestPicture {
  readonly stream: MediaStream;
  stop(): void;
}

/** Bars, a name, the time and a line that moves, as a stream of video. */
export function startTestPicture(name: string): TestPicture {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, size);
  const context = canvas.getContext("2d");
  let frame = 0;
  const draw = () => {
    if (!context) return;
    const barWidth = size.width / bars.length;
    for (const [index, color] of bars.entries()) {
      context.fillStyle = color;
      context.fillRect(index * barWidth, 0, barWidth + 1, size.height);
    }
    context.fillStyle = "#000";
    context.fillRect(70, 58, 180, 64);
    context.fillStyle = "#fff";
    context.fillRect((frame * 4) % size.width, 0, 3, size.height);
    context.textAlign = "center";
    context.font = "600 22px Inter, sans-serif";
    context.fillText(name, size.width / 2, 84);
    context.font = "16px 'Fira Mono', monospace";
    context.fillText(new Date().toISOString().slice(11, 23), size.width / 2, 110);
    frame++;
  };
  draw();
  const stream = canvas.captureStream(frameRate);
  // A timer, not the frames of the page: it goes on while the page is hidden.
  const timer = setInterval(draw, 1_000 / frameRate);
  return {
    stream,
    stop() {
      clearInterval(timer);
      for (const track of stream.getTracks()) track.stop();
    },
  };
}
