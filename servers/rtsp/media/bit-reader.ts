/** Reads bits from the highest one on. Throws RangeError where the bytes end. */
export class BitReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length * 8 - this.#position;
  }

  bit(): number {
    if (this.#position >= this.#bytes.length * 8) throw new RangeError("The bits end too early.");
    const value = ((this.#bytes[this.#position >> 3] as number) >> (7 - (this.#position & 7))) & 1;
    this.#position++;
    return value;
  }

  flag(): boolean {
    return this.bit() === 1;
  }

  /** Up to 32 bits, unsigned. */
  bits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index++) value = value * 2 + this.bit();
    return value;
  }

  skip(count: number): void {
    if (count > this.remaining) throw new RangeError("The bits end too early.");
    this.#position += count;
  }

  /** ITU-T H.264 §9.1: ue(v). */
  unsignedGolomb(): number {
    let zeros = 0;
    while (!this.flag()) {
      zeros++;
      if (zeros > 32) throw new RangeError("An Exp-Golomb code has more than 32 leading zeros.");
    }
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** ITU-T H.264 §9.1.1: se(v). */
  signedGolomb(): number {
    const code = this.unsignedGolomb();
    return code % 2 === 0 ? -code / 2 : (code + 1) / 2;
  }
}
