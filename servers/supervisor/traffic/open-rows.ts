/** Memory of an open row in addition to its bytes. */
const openRowBytes = 300;

interface OpenRow {
  row: Buffer;
  detail: Buffer[];
  detailBytes: number;
}

/** The open rows of one service. They are not in its log, and nothing evicts them; their details can be released. */
export class OpenRows {
  readonly #rows = new Map<number, OpenRow>();
  /** Those with a detail, the oldest first. */
  readonly #detailed = new Set<number>();
  #rowBytes = 0;
  detailBytes = 0;

  get bytes(): number {
    return this.#rowBytes + this.detailBytes;
  }

  has(id: number): boolean {
    return this.#rows.has(id);
  }

  row(id: number): Buffer | undefined {
    return this.#rows.get(id)?.row;
  }

  ids(): Iterable<number> {
    return this.#rows.keys();
  }

  /** The pieces in which it was written. */
  detail(id: number): readonly Buffer[] {
    return this.#rows.get(id)?.detail ?? [];
  }

  /** Copies the row, which replaces an earlier state of it, and adds to its detail. */
  put(id: number, row: Buffer, detail: Buffer): void {
    const known = this.#rows.get(id);
    const open = known ?? { row, detail: [], detailBytes: 0 };
    this.#rowBytes += row.length - (known ? known.row.length : -openRowBytes);
    open.row = Buffer.from(row);
    if (!known) this.#rows.set(id, open);
    if (detail.length === 0) return;
    open.detail.push(Buffer.from(detail));
    open.detailBytes += detail.length;
    this.detailBytes += detail.length;
    this.#detailed.add(id);
  }

  delete(id: number): void {
    const known = this.#rows.get(id);
    if (!known) return;
    this.#rows.delete(id);
    this.#detailed.delete(id);
    this.#rowBytes -= known.row.length + openRowBytes;
    this.detailBytes -= known.detailBytes;
  }

  /** Releases the oldest details until so many bytes are free. Returns their rows. */
  releaseDetails(bytes: number): readonly number[] {
    const released: number[] = [];
    const target = this.detailBytes - bytes;
    for (const id of this.#detailed) {
      if (this.detailBytes <= target) break;
      const open = this.#rows.get(id) as OpenRow;
      this.#detailed.delete(id);
      this.detailBytes -= open.detailBytes;
      open.detail = [];
      open.detailBytes = 0;
      released.push(id);
    }
    return released;
  }
}
