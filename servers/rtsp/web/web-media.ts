import type { MediaRefusal, rtspProvided } from "../../../contract/services/rtsp-media.ts";
import type { LoginClient } from "../../core/credentials/login-queue.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { PeerServices } from "../../core/streams/peer-client.ts";
import type { ProvidedHandlers } from "../../core/streams/peer-provider.ts";
import type { SessionRecorder } from "../observe/session-recorder.ts";
import { isPathName } from "../protocol/header-fields.ts";
import { headersOf, RtspRefusal } from "../protocol/message.ts";
import type { Access } from "../sessions/access.ts";
import type { Paths } from "../streams/paths.ts";
import type { StreamLimits } from "../streams/stream.ts";
import { PlayerCount } from "./player-count.ts";
import { sendMedia } from "./send-media.ts";
import { WebPublisher } from "./web-publisher.ts";
import { describeWebTrack, trackAt, webTracksOf } from "./web-tracks.ts";

export interface WebMediaOptions {
  readonly paths: Paths;
  readonly access: Access;
  readonly recorder: SessionRecorder;
  readonly limits: StreamLimits & { readonly silenceMs: number };
  readonly services: PeerServices;
  readonly log: Log;
}

type WebMediaHandlers = ProvidedHandlers<(typeof rtspProvided)["calls"], (typeof rtspProvided)["streams"]>;

/** Browsers, by way of the WebRTC service: they play paths and publish into them with the rights that RTSP clients have. */
export class WebMedia {
  readonly #options: WebMediaOptions;
  readonly #publishers = new Set<WebPublisher>();
  /** By path, of what is being sent. */
  readonly #players = new Map<string, PlayerCount>();
  #connections = 0;

  constructor(options: WebMediaOptions) {
    this.#options = options;
  }

  readonly handlers: WebMediaHandlers = {
    calls: {
      play: ({ path, authorization, address }) =>
        this.#orRefused(async () => {
          const { access, paths } = this.#options;
          await access.check({ method: "play", path, right: "read", client: webClient(address), authorization: basicOf(authorization) });
          const stream = await paths.open(path);
          const { places, leftOut } = webTracksOf(stream, paths.get(path)?.source.webSound);
          return { kind: "accepted", tracks: places.map((place) => describeWebTrack(trackAt(place))), leftOut };
        }),
      publish: ({ path, authorization, address, session, remote, userAgent, tracks }) =>
        this.#orRefused(async () => {
          const { access, paths, recorder, limits, services } = this.#options;
          if (!isPathName(path)) throw new RtspRefusal(404, `${path} cannot be a path`);
          const user = await access.check({
            method: "publish",
            path,
            right: "publish",
            client: webClient(address),
            authorization: basicOf(authorization),
          });
          paths.checkPublish(path, address);
          const connection = { id: ++this.#connections, remote, local: "", openedAt: Date.now(), tls: undefined, isTunnel: false };
          const entry = recorder.begin(connection);
          const publisher = new WebPublisher({
            path,
            user,
            address,
            session,
            tracks,
            paths,
            limits,
            services,
            onEnd: (ended, reason, by) => {
              this.#publishers.delete(ended);
              recorder.endSession(ended, reason, by);
            },
          });
          this.#publishers.add(publisher);
          recorder.bind(publisher, entry);
          entry.begins("publish", userAgent, "WHIP");
          void publisher.read();
          return { kind: "accepted" };
        }),
      keyFrame: ({ path }) => {
        this.#options.paths.get(path)?.source.requestKeyFrame?.();
        return null;
      },
      players: ({ path, count }) => {
        this.#players.get(path)?.set(count);
        return null;
      },
    },
    streams: {
      media: async ({ path, packetBytes }, to) => {
        const { paths } = this.#options;
        const players = new PlayerCount();
        this.#players.set(path, players);
        try {
          const stream = await paths.open(path);
          await sendMedia({ stream, webSound: paths.get(path)?.source.webSound, packetBytes, players }, to);
        } finally {
          if (this.#players.get(path) === players) this.#players.delete(path);
        }
      },
    },
  };

  async #orRefused<Answer>(answer: () => Promise<Answer>): Promise<Answer | MediaRefusal> {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof RtspRefusal)) {
        this.#options.log.error(`WebRTC: ${errorText(error)}`);
        throw error;
      }
      const { status, message, headers } = error;
      const known = status === 401 || status === 403 || status === 404 ? status : 503;
      return { kind: "refused", status: known, reason: message, challenges: headersOf(headers, "WWW-Authenticate") };
    }
  }

  close(reason: string): void {
    for (const publisher of [...this.#publishers]) publisher.end(reason, "server");
  }
}

/** Programs such as OBS have a field for a Bearer token alone: "user:password" there is taken as Basic. */
/** Of the WebRTC service only the client's address is known, and not when it leaves. */
const webClient = (address: string): LoginClient => ({ address, connection: {}, hasLeft: () => false });

function basicOf(authorization: string | undefined): string | undefined {
  const token = /^bearer\s+([^\s:]+:\S*)\s*$/i.exec(authorization ?? "")?.[1];
  return token === undefined ? authorization : `Basic ${Buffer.from(token).toString("base64")}`;
}
