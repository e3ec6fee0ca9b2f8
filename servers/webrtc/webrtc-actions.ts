import type { Handlers } from "../../contract/operation.ts";
import type { WebrtcActions } from "../../contract/services/webrtc.ts";
import { firstWithin } from "../core/service/first-within.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { WebrtcFaults } from "./faults/webrtc-faults.ts";
import type { IceServersFor } from "./ice/ice-servers.ts";
import type { IceChecks } from "./ice-check/ice-checks.ts";
import type { Media } from "./media/start-media.ts";
import type { TurnRecorder } from "./observe/turn-recorder.ts";
import type { Hub } from "./signalling/hub.ts";
import type { TryCalls } from "./try/try-calls.ts";
import type { TurnEngine } from "./turn/turn-engine.ts";

/** Of an answer with chat, in characters. */
const answeredText = 1 << 20;

export interface WebrtcActionParts {
  readonly hub: Hub;
  readonly turn: Pick<TurnEngine, "close"> | undefined;
  readonly turnRecorder: TurnRecorder;
  readonly faults: WebrtcFaults;
  readonly iceServers: IceServersFor;
  readonly media: Media | undefined;
  readonly iceChecks: Pick<IceChecks, "actions">;
  readonly tryCalls: Pick<TryCalls, "actions">;
  readonly sample: Pick<SampleSwitch, "actions">;
}

/** The page's actions. */
export const createWebrtcActions = ({
  hub,
  turn,
  turnRecorder,
  faults,
  iceServers,
  media,
  iceChecks,
  tryCalls,
  sample,
}: WebrtcActionParts): Handlers<WebrtcActions> => ({
  "peer.kick"({ peer: id }) {
    const peer = hub.find(id);
    if (peer) hub.disconnect(peer, "disconnected from the dashboard", "server");
    return { kicked: peer !== undefined };
  },
  "room.close": ({ room }) => ({ closed: hub.closeRoom(room) }),
  "room.chat"({ room }) {
    const kept = Array.from(hub.findRoom(room)?.chat ?? [], ({ message: { from, name, text, at } }) => ({ from, name, text, at }));
    return firstWithin(kept.reverse(), answeredText, ({ name, text }) => name.length + text.length).toReversed();
  },
  "chat.send": ({ text, ...target }) => ({ deliveries: hub.announce(target, text) }),
  "allocation.close": ({ allocation }) => ({ closed: turn?.close(allocation) ?? false }),
  "allocation.history": ({ allocation }) => turnRecorder.historyOf(allocation) ?? null,
  "ice.servers": () => iceServers("127.0.0.1", "dashboard"),
  ...faults.actions(),
  "media.end": ({ row }) => ({ ended: media?.end(row) ?? false }),
  ...iceChecks.actions,
  ...tryCalls.actions,
  ...sample.actions,
});
