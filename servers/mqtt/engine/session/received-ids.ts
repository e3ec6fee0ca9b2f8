/** In one page, of which there are 64 at most. */
const idsOfPage = 1_024;
/** Memory of a page: its bits, and the object (estimated). */
const pageBytes = idsOfPage / 8 + 100;
/** Of an identifier in the session store, which has a row for each. */
const storedBytes = 16;

interface Page {
  readonly bits: Uint32Array;
  size: number;
}

/** Unreleased QoS 2 packet identifiers of a client; most clients never have any, and those that do up to 65,535. */
export class ReceivedIds {
  private pages: (Page | undefined)[] = [];
  private usedPages = 0;
  size = 0;

  get heldBytes(): number {
    return this.usedPages * pageBytes + this.size * storedBytes;
  }

  has(packetId: number): boolean {
    const page = this.pages[packetId >> 10];
    return page !== undefined && ((page.bits[wordOf(packetId)] as number) & bitOf(packetId)) !== 0;
  }

  add(packetId: number): void {
    if (this.has(packetId)) return;
    let page = this.pages[packetId >> 10];
    if (!page) {
      page = { bits: new Uint32Array(idsOfPage / 32), size: 0 };
      while (this.pages.length < packetId >> 10) this.pages.push(undefined);
      this.pages[packetId >> 10] = page;
      this.usedPages++;
    }
    (page.bits[wordOf(packetId)] as number) |= bitOf(packetId);
    page.size++;
    this.size++;
  }

  /** False if it was not there. */
  release(packetId: number): boolean {
    const page = this.pages[packetId >> 10];
    if (!page || !this.has(packetId)) return false;
    (page.bits[wordOf(packetId)] as number) &= ~bitOf(packetId);
    this.size--;
    if (--page.size > 0) return true;
    this.pages[packetId >> 10] = undefined;
    this.usedPages--;
    return true;
  }

  copy(): ReceivedIds {
    const copy = new ReceivedIds();
    copy.pages = this.pages.map((page) => page && { bits: page.bits.slice(), size: page.size });
    copy.usedPages = this.usedPages;
    copy.size = this.size;
    return copy;
  }

  *all(): IterableIterator<number> {
    for (let packetId = 1; packetId < this.pages.length * idsOfPage; packetId++) {
      if (!this.pages[packetId >> 10]) packetId |= idsOfPage - 1;
      else if (this.has(packetId)) yield packetId;
    }
  }
}

const wordOf = (packetId: number): number => (packetId & (idsOfPage - 1)) >> 5;
const bitOf = (packetId: number): number => 1 << (packetId & 31);
