/** Apple's icon container: a list of PNGs, each under the type that names its size; "@2x" types repeat the next larger image. */
const types = [
  ["icp4", 16],
  ["icp5", 32],
  ["ic11", 32],
  ["ic12", 64],
  ["ic07", 128],
  ["ic13", 256],
  ["ic08", 256],
  ["ic14", 512],
  ["ic09", 512],
  ["ic10", 1024],
];

/** @param {{ size: number, png: Buffer }[]} images */
export function encodeIcns(images) {
  const entries = types.map(([type, size]) => entry(type, images.find((image) => image.size === size).png));
  return entry("icns", Buffer.concat(entries));
}

function entry(type, data) {
  const head = Buffer.alloc(8);
  head.write(type, "ascii");
  head.writeUInt32BE(head.length + data.length, 4);
  return Buffer.concat([head, data]);
}
