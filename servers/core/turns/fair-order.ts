/** So many addresses may owe turns while they do not wait. */
const mostOwing = 4_096;

/** Addresses take turns, and the members of each. */
export class FairOrder<Member extends { readonly key: string }> {
  /** By the address, as `rateLimitKey` has it. */
  readonly #ofKeys = new Map<string, Rounds<Member>>();
  readonly #keys = new Rounds<string>();
  /** Of addresses that do not wait. */
  readonly #owedOfKeys = new Map<string, number>();

  /** Of addresses. */
  get size(): number {
    return this.#keys.size;
  }

  /** An address has had as much as in so many turns more: the others have theirs before, when it is its turn again. */
  owe(key: string, turns: number): void {
    if (this.#owedOfKeys.size >= mostOwing) this.#owedOfKeys.clear();
    this.#owedOfKeys.set(key, (this.#owedOfKeys.get(key) ?? 0) + turns);
  }

  /** One that owes turns comes when the others of its address have had theirs. */
  add(member: Member, owed = 0): void {
    const { key } = member;
    const known = this.#ofKeys.get(key);
    const members = known ?? new Rounds();
    members.add(member, owed);
    if (known) return;
    this.#ofKeys.set(key, members);
    this.#addKey(key);
  }

  #addKey(key: string): void {
    this.#keys.add(key, this.#owedOfKeys.get(key) ?? 0);
    this.#owedOfKeys.delete(key);
  }

  take(): Member | undefined {
    const key = this.#keys.take();
    const members = key === undefined ? undefined : this.#ofKeys.get(key);
    if (key === undefined || !members) return undefined;
    const member = members.take();
    if (members.size > 0) this.#addKey(key);
    else this.#ofKeys.delete(key);
    return member;
  }

  clear(): void {
    this.#ofKeys.clear();
    this.#keys.clear();
    this.#owedOfKeys.clear();
  }
}

/** Rounds that a member may owe. */
const mostRounds = 256;

/** A queue in which each member is once, and comes so many rounds later as it owes. */
class Rounds<Member> {
  /** By their numbers; there are no empty ones. */
  readonly #rounds = new Map<number, Rotation<Member>>();
  #round = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What is owed beyond some limit is forgiven. */
  add(member: Member, owed: number): void {
    // There are few rounds, nearly always one.
    for (const round of this.#rounds.values()) if (round.has(member)) return;
    this.#size++;
    // Not into the round that goes on, which would have no end.
    const number = this.#round + 1 + Math.min(Math.floor(owed), mostRounds);
    let round = this.#rounds.get(number);
    if (!round) {
      round = new Rotation();
      this.#rounds.set(number, round);
    }
    round.add(member);
  }

  take(): Member | undefined {
    if (this.#size === 0) return undefined;
    while (!this.#rounds.has(this.#round)) this.#round++;
    const round = this.#rounds.get(this.#round) as Rotation<Member>;
    const member = round.take() as Member;
    if (round.size === 0) this.#rounds.delete(this.#round);
    this.#size--;
    return member;
  }

  clear(): void {
    this.#rounds.clear();
    this.#size = 0;
  }
}

/**
 * A queue in which each member is once. One member alone, as of most connections, is in no set; and a set is used once: it would have new tables as it grows and
 * shrinks, of which an old one that is out of use keeps what was in it, and all that came later, until a major collection.
 */
export class Rotation<Member> {
  #only: Member | undefined;
  /** All of them, if it is not one alone. */
  #members: Set<Member> | undefined;
  /** Kept, because one that begins anew steps over all that was removed. It finds what is added before it ends. */
  #from: Iterator<Member> | undefined;

  get size(): number {
    return this.#members ? this.#members.size : this.#only === undefined ? 0 : 1;
  }

  has(member: Member): boolean {
    return this.#members ? this.#members.has(member) : this.#only === member;
  }

  add(member: Member): void {
    if (this.#members) this.#members.add(member);
    else if (this.#only === undefined) this.#only = member;
    else if (this.#only !== member) {
      this.#members = new Set([this.#only, member]);
      this.#only = undefined;
    }
  }

  members(): Iterable<Member> {
    if (this.#members) return this.#members;
    return this.#only === undefined ? [] : [this.#only];
  }

  take(): Member | undefined {
    if (!this.#members) {
      const only = this.#only;
      this.#only = undefined;
      return only;
    }
    this.#from ??= this.#members.values();
    const member = this.#from.next().value as Member;
    this.delete(member);
    return member;
  }

  delete(member: Member): void {
    if (this.#members) {
      this.#members.delete(member);
      // An iterator that has ended would find nothing again.
      if (this.#members.size === 0) this.clear();
    } else if (this.#only === member) this.#only = undefined;
  }

  clear(): void {
    this.#only = undefined;
    this.#members = undefined;
    this.#from = undefined;
  }
}
