import { mostShownMembers, type WebrtcPeerView, type WebrtcRoomView, type WebrtcViews } from "../../../contract/services/webrtc.ts";
import { firstWithin } from "../../core/service/first-within.ts";
import type { Hub } from "../signalling/hub.ts";
import type { Peer } from "../signalling/peer.ts";
import type { Room } from "../signalling/room.ts";
import type { TurnEngine } from "../turn/turn-engine.ts";
import type { SignallingRecorder } from "./signalling-recorder.ts";
import type { TurnRecorder } from "./turn-recorder.ts";

/** Rows of a view; the rest is counted. */
const mostShown = 200;
/** Characters of the names of a peer's rooms, and of all names of a view. */
const mostRoomNames = 1_000;
const mostText = 256 << 10;
/** Of peers, while a page is open. */
const mostWatchedPeers = 1_000;

export interface PageViewsOptions {
  readonly hub: Hub;
  readonly recorder: SignallingRecorder;
  readonly turnRecorder: TurnRecorder;
  readonly turn: TurnEngine | undefined;
  /** The last peers to leave, with their names. */
  readonly lastLeft: (most: number) => WebrtcViews["peers"]["left"];
  /** A page is open. */
  readonly isWatched: boolean;
  readonly view: <Name extends "rooms" | "peers" | "allocations" | "turn">(name: Name, value: WebrtcViews[Name]) => void;
}

/** Rooms, peers and allocations as the page shows them. To be called once a second. */
export function showViews({ hub, recorder, turnRecorder, turn, lastLeft, isWatched, view }: PageViewsOptions): void {
  view("rooms", roomsView(hub));
  view("peers", { ...peersView(hub, recorder, isWatched ? mostWatchedPeers : mostShown), left: lastLeft(mostShown) });
  view("allocations", turnRecorder.views(mostShown));
  if (!turn) return;
  const { allocations, opened, connections, requests, errors, malformed, withoutAllocation, toPeers, fromPeers } = turn.statistics();
  view("turn", { allocations, opened, connections, requests, errors, malformed, withoutAllocation, toPeers, fromPeers });
}

function roomsView(hub: Hub): WebrtcViews["rooms"] {
  const rooms = firstWithin(hub.largestRooms(mostShown).map(roomView), mostText, ({ name, peers }) => name.length + sumOf(peers));
  return { rooms, more: hub.roomCount - rooms.length };
}

function roomView({ name, since, password, members, elsewhereCount, chat, chatMessages }: Room): WebrtcRoomView {
  return {
    name,
    since,
    hasPassword: password !== undefined,
    peerCount: members.size,
    elsewhereCount,
    chatMessages,
    chatKept: chat.size,
    peers: firstHere(members.values()),
  };
}

/** Of those that are connected here. Rooms have thousands of members, and are shown every second. */
function firstHere(members: Iterable<Peer>): string[] {
  const ids: string[] = [];
  for (const { id, isElsewhere } of members) {
    if (ids.length >= mostShownMembers) break;
    if (!isElsewhere) ids.push(id);
  }
  return ids;
}

const sumOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + name.length, 0);

function peersView(hub: Hub, recorder: SignallingRecorder, most: number): Omit<WebrtcViews["peers"], "left"> {
  const first = Math.max(0, hub.peerCount - most);
  const newest = [...hub.peers()].slice(first).reverse();
  const views = newest.map((peer) => peerView(peer, recorder.rowOf(peer)));
  const peers = firstWithin(views, mostText, ({ name, rooms }) => name.length + sumOf(rooms));
  return { peers, more: hub.peerCount - peers.length };
}

const peerView = ({ id, name, dialect, since, rooms, received, sent, facts }: Peer, row: number): WebrtcPeerView => ({
  id,
  row,
  name,
  dialect,
  since,
  received,
  sent,
  unsentBytes: facts.link.unsentBytes,
  remote: facts.connection.remote,
  isSecure: facts.connection.tls !== undefined,
  rooms: firstWithin(
    rooms.slice(0, mostShownMembers).map((room) => room.name),
    mostRoomNames,
    (room) => room.length,
  ),
});
