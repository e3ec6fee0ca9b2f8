/** Decodes a Content-Encoding for display; an encoding that this browser does not support is left. */

const streamFormats: Readonly<Record<string, string>> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate", br: "brotli" };

/** Limit of the decompressed size, against decompression bombs. */
const decodedLimitBytes = 16 * 1024 * 1024;

export interface DecodedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The decoded encoding, if any. */
  readonly decodedFrom?: string;
  /** The encoding that was not decoded. */
  readonly leftEncoded?: string;
}

export async function decodeBody(bytes: Uint8Array<ArrayBuffer>, contentEncoding: string): Promise<DecodedBody> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === "" || encoding === "identity" || bytes.length === 0) return { bytes };
  const format = streamFormats[encoding];
  if (format === undefined) return { bytes, leftEncoded: encoding };
  try {
    const decoded = await unpack(bytes, format);
    return decoded.length > 0 ? { bytes: decoded, decodedFrom: encoding } : { bytes, leftEncoded: encoding };
  } catch {
    return { bytes, leftEncoded: encoding };
  }
}

/** For a truncated stream, as much as can be decompressed. */
async function unpack(bytes: Uint8Array<ArrayBuffer>, format: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format as CompressionFormat));
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    for (const reader = stream.getReader(); length < decodedLimitBytes; ) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
    }
  } catch (error) {
    if (length === 0) throw error;
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
