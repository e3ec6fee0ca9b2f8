/** Windows' icon container. The 256 px image is a PNG, smaller ones are bitmaps: some resource readers accept nothing else. */

const directoryBytes = 6;
const entryBytes = 16;
const bitmapHeaderBytes = 40;

/** @param {{ size: number, png: Buffer, rgba: Buffer }[]} images */
export function encodeIco(images) {
  const head = Buffer.alloc(directoryBytes + entryBytes * images.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(images.length, 4);
  const bodies = [];
  let offset = head.length;
  for (const [index, image] of images.entries()) {
    const body = image.size === 256 ? image.png : bitmap(image);
    const at = directoryBytes + entryBytes * index;
    // A byte holds no 256; the format writes it as 0.
    head.writeUInt8(image.size % 256, at);
    head.writeUInt8(image.size % 256, at + 1);
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(body.length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    bodies.push(body);
    offset += body.length;
  }
  return Buffer.concat([head, ...bodies]);
}

function bitmap({ size, rgba }) {
  const header = Buffer.alloc(bitmapHeaderBytes);
  header.writeUInt32LE(bitmapHeaderBytes, 0);
  header.writeInt32LE(size, 4);
  // The height counts the transparency mask below the picture.
  header.writeInt32LE(size * 2, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(32, 14);
  const pixels = Buffer.alloc(size * size * 4);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const from = (row * size + column) * 4;
      const to = ((size - 1 - row) * size + column) * 4;
      pixels[to] = rgba[from + 2];
      pixels[to + 1] = rgba[from + 1];
      pixels[to + 2] = rgba[from];
      pixels[to + 3] = rgba[from + 3];
    }
  }
  const maskRowBytes = Math.ceil(size / 32) * 4;
  return Buffer.concat([header, pixels, Buffer.alloc(maskRowBytes * size)]);
}
