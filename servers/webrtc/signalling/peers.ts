import { AddressPlaces } from "../../core/limits/address-places.ts";
import { type Peer, remoteHostOf } from "./peer.ts";

/** Why there is no peer, for its client. */
export const tooManyPeers = "There are too many peers, and no other address has more of them (WEBRTC_PEERS)";

/** The clients that are connected here, by their identifiers. */
export class Peers extends Map<string, Peer> {
  readonly #places = new AddressPlaces<Peer>();

  enter(peer: Peer): void {
    this.set(peer.id, peer);
    this.#places.add(remoteHostOf(peer), peer);
  }

  leave(peer: Peer): void {
    this.delete(peer.id);
    this.#places.remove(peer);
  }

  /** The one that gives way to a new one where there are as many as there may be; undefined where the address of none has more of them. */
  givingWay(newcomer: Peer): Peer | undefined {
    return this.#places.givingWay(remoteHostOf(newcomer));
  }
}
