/** RFC 7541 Appendix B: the length of the code of each byte, and of the end of the string. */
const codeLengths = [
  [13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  [13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  [15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  [20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  [22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  [26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  [20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  [30],
].flat();
const endOfString = 256;
/** Bits. */
export const longestCode = 30;

/** A node of the tree has two entries: its number, doubled, and a bit. Leaves are negative: -1 - byte. */
function codeTree(): readonly number[] {
  const tree: number[] = [0, 0];
  // The code is canonical: codes of the same length are numbered in the order of the bytes.
  const bytes = codeLengths.map((_, byte) => byte).sort((one, other) => lengthOf(one) - lengthOf(other) || one - other);
  let code = 0;
  let codeLength = 0;
  for (const byte of bytes) {
    code *= 2 ** (lengthOf(byte) - codeLength);
    codeLength = lengthOf(byte);
    let node = 0;
    for (let bit = codeLength - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1);
      if (tree[at] === 0) tree[at] = tree.push(0, 0) / 2 - 1;
      node = tree[at] as number;
    }
    tree[2 * node + (code & 1)] = -1 - byte;
    code++;
  }
  return tree;
}

const lengthOf = (byte: number): number => codeLengths[byte] as number;

const tree = codeTree();
const nodes = tree.length / 2;
const failed = 0xffff;
/** For a node and the next four bits: the node after them, and the byte that ended within them, of which there is at most one; -1 for none. */
const nextNode = new Uint16Array(16 * nodes);
const nextByte = new Int16Array(16 * nodes).fill(-1);
/** RFC 7541 §5.2: a string may end at nodes that are reached by up to seven ones. */
const mayEnd = new Uint8Array(nodes);

for (let node = 0; node < nodes; node++) {
  for (let bits = 0; bits < 16; bits++) {
    let at = node;
    for (let bit = 3; bit >= 0 && at !== failed; bit--) {
      const next = tree[2 * at + ((bits >>> bit) & 1)] as number;
      at = next < 0 ? 0 : next;
      if (next === -1 - endOfString) at = failed;
      else if (next < 0) nextByte[16 * node + bits] = -1 - next;
    }
    nextNode[16 * node + bits] = at;
  }
}
for (let node = 0, ones = 0; ones < 8; ones++) {
  mayEnd[node] = 1;
  node = tree[2 * node + 1] as number;
}

/** Writes the decoded bytes to `into`, which has room for 8/5 of them; returns how many there are, or -1 if the code is not valid. */
export function decodeHuffman(bytes: Buffer, start: number, end: number, into: Buffer): number {
  let node = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    const high = 16 * node + (byte >>> 4);
    const first = nextByte[high] as number;
    if (first >= 0) into[length++] = first;
    node = nextNode[high] as number;
    if (node === failed) return -1;
    const low = 16 * node + (byte & 15);
    const second = nextByte[low] as number;
    if (second >= 0) into[length++] = second;
    node = nextNode[low] as number;
    if (node === failed) return -1;
  }
  return mayEnd[node] === 1 ? length : -1;
}
