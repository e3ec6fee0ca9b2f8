/** Whoever chooses the texts does not know which of their characters meet in the table. */
const salt = Math.floor(Math.random() * 2 ** 31);

/**
 * Several texts that are looked for at once, by Aho and Corasick (1975): the time grows with the characters that are searched, however many
 * texts there are and whatever they are. Characters are units of UTF-16.
 */
export class TextFinder {
  /** Of a node, which stands for the start of a text; node 0 is the empty one. */
  readonly #parents: Int32Array;
  readonly #units: Uint16Array;
  readonly #depths: Int32Array;
  /** The node of the longest shorter start that it ends with. */
  readonly #fallbacks: Int32Array;
  /** Length of the longest text that it ends with; 0 without. */
  readonly #found: Int32Array;
  /** Nodes by parent and unit; 0 is a free place. A power of two. */
  readonly #children: Int32Array;
  /** By the low byte of a unit: a text may begin with it. */
  readonly #begins = new Uint8Array(256);
  #nodes = 0;

  constructor(texts: readonly string[]) {
    const most = texts.reduce((sum, { length }) => sum + length, 1);
    this.#parents = new Int32Array(most);
    this.#units = new Uint16Array(most);
    this.#depths = new Int32Array(most);
    this.#fallbacks = new Int32Array(most);
    this.#found = new Int32Array(most);
    this.#children = new Int32Array(2 ** Math.ceil(Math.log2(2 * most)));
    for (const text of texts) this.#add(text);
    this.#findFallbacks();
  }

  #add(text: string): void {
    let node = 0;
    for (const unit of unitsOf(text)) {
      const place = this.#place(node, unit);
      let child = this.#children[place] as number;
      if (child === 0) {
        child = ++this.#nodes;
        this.#children[place] = child;
        this.#parents[child] = node;
        this.#units[child] = unit;
        this.#depths[child] = (this.#depths[node] as number) + 1;
        if (node === 0) this.#begins[unit & 0xff] = 1;
      }
      node = child;
    }
    this.#found[node] = text.length;
  }

  /** Where the child is, or would be. */
  #place(node: number, unit: number): number {
    const last = this.#children.length - 1;
    let hash = Math.imul(node ^ salt, 0x9e3779b1) ^ Math.imul(unit + salt, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (let place = hash & last; ; place = (place + 1) & last) {
      const child = this.#children[place] as number;
      if (child === 0 || (this.#parents[child] === node && this.#units[child] === unit)) return place;
    }
  }

  /** The node of the longest start that the one of `node`, with the unit behind it, ends with. */
  #next(node: number, unit: number): number {
    for (let from = node; ; from = this.#fallbacks[from] as number) {
      const child = this.#children[this.#place(from, unit)] as number;
      if (child !== 0 || from === 0) return child;
    }
  }

  #findFallbacks(): void {
    for (const node of this.#byDepth()) {
      const parent = this.#parents[node] as number;
      if (parent === 0) continue;
      const fallback = this.#next(this.#fallbacks[parent] as number, this.#units[node] as number);
      this.#fallbacks[node] = fallback;
      if (this.#found[node] === 0) this.#found[node] = this.#found[fallback] as number;
    }
  }

  /** A shorter one before the longer ones. */
  #byDepth(): Int32Array {
    const ends = new Int32Array(this.#nodes + 2);
    for (let node = 1; node <= this.#nodes; node++) (ends[(this.#depths[node] as number) + 1] as number)++;
    for (let depth = 1; depth < ends.length; depth++) (ends[depth] as number) += ends[depth - 1] as number;
    const sorted = new Int32Array(this.#nodes);
    for (let node = 1; node <= this.#nodes; node++) {
      const depth = this.#depths[node] as number;
      sorted[(ends[depth] as number)++] = node;
    }
    return sorted;
  }

  /**
   * With `mark` in place of each of the texts, and of those that overlap. With `leastStart` also in place of the start of one, so long at
   * least, at the end. Returns `text` itself where nothing is found.
   */
  replaceIn(text: string, mark: string, leastStart?: number): string {
    const units = unitsOf(text);
    const starts: number[] = [];
    const ends: number[] = [];
    const add = (from: number, end: number) => {
      let start = from;
      while (ends.length > 0 && (ends.at(-1) as number) > start) {
        ends.pop();
        start = Math.min(start, starts.pop() as number);
      }
      starts.push(start);
      ends.push(end);
    };
    let node = 0;
    for (let at = 0; at < units.length; at++) {
      const unit = units[at] as number;
      if (node === 0 && this.#begins[unit & 0xff] === 0) continue;
      node = this.#next(node, unit);
      const found = this.#found[node] as number;
      if (found > 0) add(at + 1 - found, at + 1);
    }
    const open = this.#depths[node] as number;
    if (leastStart !== undefined && open >= leastStart) add(text.length - open, text.length);
    if (starts.length === 0) return text;
    let shown = "";
    let from = 0;
    for (const [index, start] of starts.entries()) {
      shown += text.slice(from, start) + mark;
      from = ends[index] as number;
    }
    return shown + text.slice(from);
  }
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, "utf16le");
  return units;
}
