import type { Peer } from "./peer.ts";
import type { ListedMembers, Member } from "./signalling-event.ts";

const membersOfPart = 50;

interface Part {
  readonly members: Set<Peer>;
  /** What `membersJson` makes of them, until one comes, goes or has another name. */
  json: string | undefined;
}

/** The members of a room, and their list as JSON in parts that are kept: thousands may ask for it again and again. */
export class MemberList {
  /** The oldest members first. */
  readonly #parts = new Set<Part>();
  readonly #partOf = new Map<Peer, Part>();
  #last: Part | undefined;

  add(peer: Peer): void {
    let last = this.#last;
    if (!last || last.members.size >= membersOfPart) {
      last = { members: new Set(), json: undefined };
      this.#last = last;
      this.#parts.add(last);
    }
    last.members.add(peer);
    last.json = undefined;
    this.#partOf.set(peer, last);
  }

  remove(peer: Peer): void {
    const part = this.#partOf.get(peer);
    if (!part) return;
    this.#partOf.delete(peer);
    part.members.delete(peer);
    part.json = undefined;
    if (part.members.size > 0) return;
    this.#parts.delete(part);
    if (part === this.#last) this.#last = undefined;
  }

  /** It has another name. */
  renamed(peer: Peer): void {
    const part = this.#partOf.get(peer);
    if (part) part.json = undefined;
  }

  /** All for whom `isHidden` is false, as they are when they are read. */
  without(isHidden: (peer: Peer) => boolean): ListedMembers {
    const parts = this.#parts;
    return {
      *[Symbol.iterator]() {
        for (const { members } of parts) for (const peer of members) if (!isHidden(peer)) yield memberOf(peer);
      },
      get json() {
        const texts: string[] = [];
        for (const part of parts) {
          const shown = [...part.members].filter((peer) => !isHidden(peer));
          if (shown.length === 0) continue;
          const json = shown.length === part.members.size ? (part.json ?? membersJson(shown)) : undefined;
          part.json ??= json;
          texts.push(json ?? membersJson(shown));
        }
        return `[${texts.join(",")}]`;
      },
    };
  }
}

const memberOf = ({ id, name }: Peer): Member => ({ id, name });

/** Without the brackets of the array. */
const membersJson = (members: readonly Peer[]): string => JSON.stringify(members.map(memberOf)).slice(1, -1);
