import { z } from "zod";
import { field, limitField, portField, wholeNumber } from "../../core/config/common-fields.ts";

/** Settings of WHEP and WHIP. */
export const mediaFields = {
  media: field(z.boolean().default(true), {
    title: "WHEP and WHIP",
    help: "Browsers play the RTSP service's streams at /whep/{path} and publish at /whip/{path}.",
    env: "WEBRTC_MEDIA",
    group: "Listening",
  }),
  mediaPort: portField(8_443, {
    title: "Media port",
    help: "The UDP port of the media of WHEP and WHIP, for all clients. It may have the number of the TCP port.",
    env: "WEBRTC_MEDIA_PORT",
  }),
};

export const mediaLimitFields = {
  viewers: limitField(1, 10_000, 200, {
    title: "Players by WHEP",
    help: "More get 503. Where all places are taken, the address that has most loses one to another that has fewer.",
    env: "WEBRTC_VIEWERS",
  }),
  publishers: limitField(1, 1_000, 20, {
    title: "Publishers by WHIP",
    help: "More get 503. Where all places are taken, the address that has most loses one to another that has fewer.",
    env: "WEBRTC_PUBLISHERS",
  }),
  mediaKeptBytes: limitField(0, 1 << 28, 8 << 20, {
    title: "Kept since the key frame",
    help: "Of each path that is played, so that a player starts at once. Each frame counts 1 KiB beside its bytes. Of a longer group of pictures nothing is kept.",
    unit: "B",
    env: "WEBRTC_MEDIA_KEPT_BYTES",
  }),
  mediaAllKeptBytes: limitField(1 << 20, 2 ** 40, 256 << 20, {
    title: "Kept since the key frame, of all paths",
    help: "Beyond it, the paths that keep the most lose it: their players wait for the next key frame.",
    unit: "B",
    env: "WEBRTC_MEDIA_ALL_KEPT_BYTES",
  }),
  mediaRequestsPerSecond: limitField(10, 1_000_000, 1_000, {
    title: "Checks and handshakes of media per second",
    help: "Datagrams of ICE and DTLS of one peer, and of all senders together that are no peer yet. More are dropped before any work, and clients repeat them. Media has no such limit.",
    env: "WEBRTC_MEDIA_REQUESTS_PER_SECOND",
  }),
  publisherKbps: limitField(100, 1_000_000, 8_000, {
    title: "Bit rate of a publisher",
    help: "The highest bit rate that a WHIP publisher is asked to send.",
    unit: "kbit/s",
    env: "WEBRTC_PUBLISHER_KBPS",
  }),
};

const time = (standard: number, meta: { readonly least: number; readonly title: string; readonly help: string; readonly env: string }) =>
  field(wholeNumber(meta.least, 600, standard), { title: meta.title, help: meta.help, env: meta.env, unit: "s", group: "Times" });

export const mediaTimeFields = {
  mediaConnectSeconds: time(15, {
    least: 1,
    title: "Connecting media",
    help: "A session of WHEP or WHIP that is not connected by then ends.",
    env: "WEBRTC_MEDIA_CONNECT_SECONDS",
  }),
  consentSeconds: time(30, {
    least: 5,
    title: "Consent",
    help: "A session of WHEP or WHIP ends when its client has sent no check of ICE for this time.",
    env: "WEBRTC_CONSENT_SECONDS",
  }),
  keyFrameSeconds: time(2, {
    least: 1,
    title: "Key frames of publishers",
    help: "How often a publisher by WHIP is asked for a key frame: browsers send none of their own accord, and players start with one.",
    env: "WEBRTC_KEY_FRAME_SECONDS",
  }),
};
