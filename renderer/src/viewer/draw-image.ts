import type { ImageSize } from "./image-size.ts";

/** Larger pictures are not decoded: a few bytes may claim to be gigabytes of pixels. */
const decodedPixelsLimit = 16_000_000;

export const imageLabel = ({ format, width, height }: ImageSize): string => `${format} picture, ${width} by ${height} pixels`;

interface DrawOptions {
  /** Asked before and after it is decoded; null if it is no longer wanted. */
  readonly canvasOf: () => HTMLCanvasElement | null;
  /** In pixels of the canvas; without it the image has its own size. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** One picture at a time has all of its pixels in memory: a body may have many. */
let decoding: Promise<unknown> = Promise.resolve();

/**
 * Draws an image from its pixels on a canvas: nothing is loaded as a document, and the content security policy stays strict. Resolves with the reason why it
 * is not drawn, or undefined.
 */
export function drawImage(bytes: Uint8Array<ArrayBuffer>, image: ImageSize, options: DrawOptions): Promise<string | undefined> {
  const drawn = decoding.then(() => draw(bytes, image, options));
  decoding = drawn;
  return drawn;
}

/** Never rejects. */
async function draw(
  bytes: Uint8Array<ArrayBuffer>,
  { format, width, height }: ImageSize,
  { canvasOf, size }: DrawOptions,
): Promise<string | undefined> {
  if (width * height > decodedPixelsLimit) return "Too large to display.";
  if (!canvasOf()) return undefined;
  try {
    const scaled = size && { resizeWidth: size.width, resizeHeight: size.height };
    const bitmap = await createImageBitmap(new Blob([bytes], { type: `image/${format.toLowerCase()}` }), scaled);
    const canvas = canvasOf();
    if (canvas) {
      canvas.width = bitmap.width;
      canvas.height = bitmap.height;
      canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
    }
    bitmap.close();
    return undefined;
  } catch {
    return "The image cannot be decoded.";
  }
}

const widestInTextPx = 400;
const highestInTextPx = 240;

/** As it is shown between lines of text: never larger than it is, and known before it is decoded, so that lines do not move then. */
export function sizeInText({ width, height }: ImageSize): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, widestInTextPx / Math.max(1, width), highestInTextPx / Math.max(1, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}
