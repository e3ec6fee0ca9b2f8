import type { ImageSize } from "./image-size.ts";

/** Larger pictures are not decoded: a few bytes may claim to be gigabytes of pixels. */
const decodedPixelsLimit = 16_000_000;

export const imageLabel = ({ format, width, height }: ImageSize): string => `${format} picture, ${width} by ${height} pixels`;

/**
 * Draws an image from its pixels on a canvas: nothing is loaded as a document, and the content security policy stays strict. `canvasOf` is asked when it
 * is decoded, and returns null if it is no longer wanted. Resolves with the reason why it is not drawn, or undefined.
 */
export async function drawImage(
  bytes: Uint8Array<ArrayBuffer>,
  { format, width, height }: ImageSize,
  canvasOf: () => HTMLCanvasElement | null,
): Promise<string | undefined> {
  if (width * height > decodedPixelsLimit) return "Too large to display.";
  try {
    const bitmap = await createImageBitmap(new Blob([bytes], { type: `image/${format.toLowerCase()}` }));
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
