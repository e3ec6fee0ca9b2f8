/** Messages of one client above the allowed rate. */
export class MessageRate {
  /** Since the last check. */
  messages = 0;
  /** Above the allowed rate, not used up yet. */
  private excess = 0;
  private isSlowed = false;

  /** Called once per sweep: whether its client is to be read no further until the excess is used up, or again; undefined if nothing changes. */
  check(allowed: number): "hold" | "release" | undefined {
    this.excess = Math.max(0, this.excess + this.messages - allowed);
    this.messages = 0;
    if (this.excess > 0 === this.isSlowed) return undefined;
    this.isSlowed = !this.isSlowed;
    return this.isSlowed ? "hold" : "release";
  }
}
