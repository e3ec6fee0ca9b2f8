import type { WebrtcPeerView, WebrtcRoomView, WebrtcViews } from "../../../../../contract/services/webrtc.ts";

/** A room, or below it a member that the view of peers has. */
export type RoomRow =
  | { readonly kind: "room"; readonly id: string; readonly room: WebrtcRoomView }
  | { readonly kind: "peer"; readonly id: string; readonly room: string; readonly peer: WebrtcPeerView }
  /** Members that are not named, below those that are. */
  | { readonly kind: "more"; readonly id: string; readonly room: string; readonly count: number; readonly isAll: boolean }
  /** Members that are connected to other instances. */
  | { readonly kind: "elsewhere"; readonly id: string; readonly room: string; readonly count: number }
  /** Above the peers that are in no room. */
  | { readonly kind: "none"; readonly id: string; readonly count: number };

/** Rooms in the order of the view, each with its members; then those without a room. A text lets through rooms, or members, that contain it. */
export function roomRows(rooms: WebrtcViews["rooms"], peers: WebrtcViews["peers"], text: string): readonly RoomRow[] {
  const needle = text.trim().toLowerCase();
  const known = new Map(peers.peers.map((peer) => [peer.id, peer]));
  const rows = rooms.rooms.flatMap((room): RoomRow[] => {
    const members = room.peers.flatMap((id) => known.get(id) ?? []);
    const isWhole = room.name.toLowerCase().includes(needle);
    const shown = isWhole ? members : members.filter((peer) => hasText(peer, needle));
    if (!isWhole && shown.length === 0) return [];
    const elsewhere = room.elsewhereCount;
    const unnamed = room.peerCount - elsewhere - members.length;
    return [
      { kind: "room", id: `room ${room.name}`, room },
      ...shown.map((peer): RoomRow => ({ kind: "peer", id: `peer ${peer.id} ${room.name}`, room: room.name, peer })),
      ...(isWhole && unnamed > 0
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
  `${id} ${name} ${remote} ${dialect}`.toLowerCase().includes(needle);
