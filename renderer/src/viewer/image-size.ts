export interface ImageSize {
  readonly format: "PNG" | "GIF" | "JPEG" | "WebP";
  readonly width: number;
  readonly height: number;
}

/** Format and size from the first bytes of an image; undefined for anything else. Nothing is decoded. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) && bytes.length >= 24) {
    return { format: "PNG", width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (ascii(bytes, 0, 4) === "GIF8" && bytes.length >= 10) {
    return { format: "GIF", width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 4) === "WEBP") return webpSize(bytes, view);
  if (startsWith(bytes, [0xff, 0xd8])) return jpegSize(bytes, view);
  return undefined;
}

const startsWith = (bytes: Uint8Array, start: readonly number[]) => start.every((byte, index) => bytes[index] === byte);
const ascii = (bytes: Uint8Array, at: number, length: number) => String.fromCharCode(...bytes.subarray(at, at + length));

function webpSize(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  if (bytes.length < 30) return undefined;
  switch (ascii(bytes, 12, 4)) {
    case "VP8 ":
      return { format: "WebP", width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { format: "WebP", width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { format: "WebP", width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
    default:
      return undefined;
  }
}

/**
 * The size is in the first start-of-frame segment (ITU T.81 B.2.2). Segments are found as decoders find them, which skip fill bytes and what is no marker: the
 * size that is read elsewhere would not be that of the picture.
 */
function jpegSize(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  for (let at = afterMarker(bytes, 2); at + 7 < bytes.length; at = afterMarker(bytes, at)) {
    const marker = bytes[at - 1]!;
    // The data of the picture, or its end.
    if (marker === 0xda || marker === 0xd9) return undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { format: "JPEG", width: view.getUint16(at + 5), height: view.getUint16(at + 3) };
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (!isAlone) at += Math.max(2, view.getUint16(at));
  }
  return undefined;
}

/** The place behind the next marker: 0xff, maybe several times, and a byte that is neither that nor 0. */
function afterMarker(bytes: Uint8Array, from: number): number {
  let at = from;
  do {
    while (at < bytes.length && bytes[at] !== 0xff) at++;
    while (at < bytes.length && bytes[at] === 0xff) at++;
    at++;
  } while (at < bytes.length && bytes[at - 1] === 0);
  return at;
}
