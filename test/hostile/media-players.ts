import { setTimeout as delay } from "node:timers/promises";
import { type MediaServer, mediaServer, playerOffer } from "../webrtc/media-offers.ts";
import { MediaPeer } from "../webrtc/media-peer.ts";
import { randomBytes, type Target } from "./hostile-service.ts";
import { list } from "./signalling-attacks.ts";

/** What a socket's buffer takes at once. */
export const datagramsAtOnce = 50;
export const sessionsOfAttack = 4;

/** Where players of the target connect, and what releases them. */
export function mediaServerOf({ port }: Pick<Target, "port">): { readonly server: MediaServer; readonly release: () => Promise<void> } {
  const releases: (() => unknown)[] = [];
  return {
    server: mediaServer(`http://127.0.0.1:${port}`, (release) => void releases.push(release)),
    async release() {
      for (const one of releases.reverse()) await one();
    },
  };
}

/** What players open in it is released after it. */
export async function withServer(target: Target, attack: (server: MediaServer) => Promise<void>): Promise<void> {
  const { server, release } = mediaServerOf(target);
  try {
    await attack(server);
  } finally {
    await release();
  }
}

/** Sends datagrams by turns from a few players whose handshake is the attack; their sessions end with it. */
export async function asPlayers(
  target: Target,
  datagrams: () => Iterable<Buffer>,
  change: (offer: string) => string = (offer) => offer,
): Promise<void> {
  await withServer(target, async (server) => {
    await Promise.all(
      list(sessionsOfAttack, async () => {
        const peer = await MediaPeer.reach(server, "/whep/stream", playerOffer(change));
        await sendAll(peer, datagrams());
        await peer.end();
      }),
    );
  });
}

export async function sendAll(peer: MediaPeer, datagrams: Iterable<Buffer>): Promise<void> {
  let count = 0;
  for (const datagram of datagrams) {
    peer.send(datagram);
    if (++count % datagramsAtOnce === 0) await delay(1);
  }
}

/** Bytes that look like one kind of what shares a port (RFC 7983): the first byte says which. */
export const looksLike = (target: Target, [first, last]: readonly [number, number], length: number): Buffer => {
  const bytes = randomBytes(target, Math.max(1, length));
  bytes[0] = first + target.random.below(last - first + 1);
  return bytes;
};

export const dtlsBytes = [20, 63] as const;
