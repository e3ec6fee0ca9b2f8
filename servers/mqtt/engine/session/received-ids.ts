/** Unreleased QoS 2 packet identifiers of a client; most clients never have any. */
export class ReceivedIds {
  private ids: Set<number> | undefined = undefined;

  get size(): number {
    return this.ids?.size ?? 0;
  }

  has(packetId: number): boolean {
    return this.ids?.has(packetId) ?? false;
  }

  add(packetId: number): void {
    this.ids ??= new Set();
    this.ids.add(packetId);
  }

  /** False if it was not there. */
  release(packetId: number): boolean {
    return this.ids?.delete(packetId) ?? false;
  }

  all(): number[] {
    return [...(this.ids ?? [])];
  }
}
