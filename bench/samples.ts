import { median } from "./harness.ts";

/** Measured values by what was measured and by the program it was measured of. */
export class Samples {
  private readonly values = new Map<string, number[]>();

  add(what: string, program: string, value: number): void {
    const key = `${what}\n${program}`;
    this.values.set(key, [...(this.values.get(key) ?? []), value]);
  }

  median(what: string, program: string): number | undefined {
    const values = this.values.get(`${what}\n${program}`);
    return values && median(values);
  }

  /** One program's median as a multiple of another's. */
  ratio(what: string, program: string, base: string): number {
    return (this.median(what, program) ?? Number.NaN) / (this.median(what, base) ?? Number.NaN);
  }
}
