/** Figures of the last second. */
export interface PaintedSecond {
  /** Pictures that were painted. */
  readonly frameRate: number;
  /** From the service to the canvas, at the median. */
  readonly delayMs: number | undefined;
}

/** Four bytes each. */
const mostCanvasPixels = 1_920 * 1_080;

/** A larger picture is painted smaller: no card shows more. */
export function canvasSize(width: number, height: number): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, Math.sqrt(mostCanvasPixels / (width * height)));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Paints the newest picture, once for each frame of the screen. */
export class PicturePainter {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  #next: { readonly picture: VideoFrame; readonly sentAt: number } | undefined;
  #request: number | undefined;
  #delays: number[] = [];
  #painted = 0;
  #sinceMs = performance.now();

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
  }

  show(picture: VideoFrame, sentAt: number): void {
    this.#next?.picture.close();
    this.#next = { picture, sentAt };
    this.#request ??= requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    this.#request = undefined;
    const next = this.#next;
    this.#next = undefined;
    if (!next) return;
    const { picture, sentAt } = next;
    const { width, height } = canvasSize(picture.displayWidth, picture.displayHeight);
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    this.#context?.drawImage(picture, 0, 0, width, height);
    picture.close();
    this.#painted++;
    if (sentAt > 0) this.#delays.push(Math.max(0, Date.now() - sentAt));
  }

  /** Of the time since the last call. */
  takeSecond(): PaintedSecond {
    const now = performance.now();
    const sorted = this.#delays.sort((a, b) => a - b);
    const second = {
      frameRate: (this.#painted * 1_000) / Math.max(1, now - this.#sinceMs),
      delayMs: sorted[sorted.length >> 1],
    };
    this.#delays = [];
    this.#painted = 0;
    this.#sinceMs = now;
    return second;
  }

  close(): void {
    if (this.#request !== undefined) cancelAnimationFrame(this.#request);
    this.#next?.picture.close();
    this.#next = undefined;
  }
}
