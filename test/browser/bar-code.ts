import type { Page } from "playwright-core";

/** A number of a frame that the page has painted, and when it was first seen, in milliseconds since the epoch. */
export interface PaintedFrame {
  readonly number: number;
  readonly at: number;
}

/**
 * Reads the bar code of a test stream from its canvas with each frame of the screen, until there are so many numbers. The bar code is at the upper left,
 * ten bars of a fortieth of the width: white, black, then the number of the frame, 0 to 239, highest bit first.
 */
export const paintedFrames = (page: Page, label: string, count: number): Promise<readonly PaintedFrame[]> =>
  page.evaluate(
    async ({ name, wanted }) => {
      const copy = Object.assign(document.createElement("canvas"), { width: 160, height: 4 });
      const context = copy.getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
      const seen: { number: number; at: number }[] = [];
      while (seen.length < wanted) {
        await new Promise(requestAnimationFrame);
        const canvas = document.querySelector<HTMLCanvasElement>(`canvas[aria-label="${name}"]`);
        if (!canvas || canvas.width < 320) continue;
        const bar = canvas.width / 40;
        context.drawImage(canvas, 0, 0, 10 * bar, bar, 0, 0, 160, 4);
        const { data } = context.getImageData(0, 2, 160, 1);
        const bits = Array.from({ length: 10 }, (_, index) => ((data[(index * 16 + 8) * 4] ?? 0) > 128 ? 1 : 0));
        if (bits[0] !== 1 || bits[1] !== 0) continue;
        const number = bits.slice(2).reduce<number>((sum, bit) => sum * 2 + bit, 0);
        if (number !== seen.at(-1)?.number) seen.push({ number, at: performance.timeOrigin + performance.now() });
      }
      return seen;
    },
    { name: label, wanted: count },
  );

/** Whether each number is at most a few frames after the one before, also over the end of the loop of 240. */
export const isMoving = (frames: readonly PaintedFrame[]): boolean =>
  frames.every(({ number }, index) => index === 0 || (number - (frames[index - 1] as PaintedFrame).number + 240) % 240 < 50);
