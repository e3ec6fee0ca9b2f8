/** Addresses take turns, and the members of each. */
export class FairOrder<Member extends { readonly key: string }> {
  /** By the address, as `rateLimitKey` has it. */
  readonly #ofKeys = new Map<string, Rotation<Member>>();
  readonly #keys = new Rotation<string>();

  /** Of addresses. */
  get size(): number {
    return this.#keys.size;
  }

  has(member: Member): boolean {
    return this.#ofKeys.get(member.key)?.has(member) ?? false;
  }

  add(member: Member): void {
    const { key } = member;
    const known = this.#ofKeys.get(key);
    const members = known ?? new Rotation();
    members.add(member);
    if (known) return;
    this.#ofKeys.set(key, members);
    this.#keys.add(key);
  }

  take(): Member | undefined {
    const key = this.#keys.take();
    const members = key === undefined ? undefined : this.#ofKeys.get(key);
    if (key === undefined || !members) return undefined;
    const member = members.take();
    if (members.size > 0) this.#keys.add(key);
    else this.#ofKeys.delete(key);
    return member;
  }

  clear(): void {
    this.#ofKeys.clear();
    this.#keys.clear();
  }
}

/** A queue in which each member is once. */
export class Rotation<Member> {
  readonly #members = new Set<Member>();
  /** Kept, because one that begins anew steps over all that was removed. It finds what is added before it ends. */
  #from: Iterator<Member> | undefined;

  get size(): number {
    return this.#members.size;
  }

  has(member: Member): boolean {
    return this.#members.has(member);
  }

  add(member: Member): void {
    this.#members.add(member);
  }

  take(): Member | undefined {
    if (this.#members.size === 0) return undefined;
    this.#from ??= this.#members.values();
    const member = this.#from.next().value as Member;
    this.#members.delete(member);
    // An iterator that has ended would find nothing again.
    if (this.#members.size === 0) this.#from = undefined;
    return member;
  }

  clear(): void {
    this.#members.clear();
    this.#from = undefined;
  }
}
