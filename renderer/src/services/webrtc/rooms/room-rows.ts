import type { WebrtcPeerView, WebrtcRoomView, WebrtcViews } from "../../../../../contract/services/webrtc.ts";
import { dialectTitles } from "../../../../../contract/traffic/webrtc-words.ts";

/** A room, or below it a member that the view of peers has. */
export type RoomRow =
  | { readonly kind: "room"; readonly id: string; readonly room: WebrtcRoomView }
  | { readonly kind: "peer"; readonly id: string; readonly room: string; readonly peer: WebrtcPeerView }
  /** Members that are not listed until it is opened. */
  | { readonly kind: "folded"; readonly id: string; readonly room: string; readonly count: number }
  /** Members that are not named, below those that are. */
  | { readonly kind: "more"; readonly id: string; readonly room: string; readonly count: number; readonly isAll: boolean }
  /** Members that are connected to other instances. */
  | { readonly kind: "elsewhere"; readonly id: string; readonly room: string; readonly count: number }
  /** Above the peers that are in no room. */
  | { readonly kind: "none"; readonly id: string; readonly count: number };

const nothingUnfolded: ReadonlySet<string> = new Set();
/** Of a larger room the first members are listed, so that the next rooms are in reach. */
const mostMembers = 20;
const listedMembers = 12;

/**
 * Rooms in the order of the view, each with its members; then those without a room. A text lets through rooms, or members, that contain it.
 * All members are listed of the `unfolded` rooms, and of all rooms with a text.
 */
export function roomRows(
  rooms: WebrtcViews["rooms"],
  peers: Omit<WebrtcViews["peers"], "left">,
  text: string,
  unfolded: ReadonlySet<string> = nothingUnfolded,
): readonly RoomRow[] {
  const needle = text.trim().toLowerCase();
  const known = new Map(peers.peers.map((peer) => [peer.id, peer]));
  const rows = rooms.rooms.flatMap((room): RoomRow[] => {
    const members = room.peers.flatMap((id) => known.get(id) ?? []);
    const isWhole = room.name.toLowerCase().includes(needle);
    const folds = needle === "" && members.length > mostMembers && !unfolded.has(room.name);
    const shown = isWhole ? members : members.filter((peer) => hasText(peer, needle));
    if (!isWhole && shown.length === 0) return [];
    const elsewhere = room.elsewhereCount;
    const unnamed = room.peerCount - elsewhere - members.length;
    return [
      { kind: "room", id: `room ${room.name}`, room },
      ...(folds ? shown.slice(0, listedMembers) : shown).map(
        (peer): RoomRow => ({ kind: "peer", id: `peer ${peer.id} ${room.name}`, room: room.name, peer }),
      ),
      ...(folds
        ? [{ kind: "folded", id: `folded ${room.name}`, room: room.name, count: room.peerCount - elsewhere - listedMembers } as const]
        : []),
      ...(isWhole && !folds && unnamed > 0
        ? [{ kind: "more", id: `more ${room.name}`, room: room.name, count: unnamed, isAll: members.length === 0 } as const]
        : []),
      ...(isWhole && elsewhere > 0
        ? [{ kind: "elsewhere", id: `elsewhere ${room.name}`, room: room.name, count: elsewhere } as const]
        : []),
    ];
  });
  const alone = peers.peers.filter((peer) => peer.rooms.length === 0 && hasText(peer, needle));
  return alone.length === 0
    ? rows
    : [
        ...rows,
        { kind: "none", id: "none", count: alone.length },
        ...alone.map((peer): RoomRow => ({ kind: "peer", id: `peer ${peer.id} `, room: "", peer })),
      ];
}

const hasText = ({ id, name, remote, dialect }: WebrtcPeerView, needle: string): boolean =>
  `${id} ${name} ${remote} ${dialectTitles[dialect]}`.toLowerCase().includes(needle);
