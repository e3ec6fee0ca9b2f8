export interface SeededRandom {
  /** 0 up to, not including, `limit`. */
  below(limit: number): number;
  chance(part: number): boolean;
}

/** mulberry32: small, and the same on every machine. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { below: (limit) => Math.floor(next() * limit), chance: (part) => next() < part };
}
