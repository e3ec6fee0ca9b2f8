/** Longest wait for a frame: a hidden page draws none, and its topics still have to be acknowledged. */
const hiddenFrameMs = 250;

export type NextFrame = (run: () => void) => void;

/** Runs once with the next frame that the browser draws, or after a short time where it draws none. */
export const nextFrame: NextFrame = (run) => {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, hiddenFrameMs);
};
