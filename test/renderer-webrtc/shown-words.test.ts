import { expect, it } from "vitest";
import type { WebrtcPeerView } from "../../contract/services/webrtc.ts";
import type { WebrtcMediaSessionView } from "../../contract/services/webrtc-media.ts";
import { mediaTexts } from "../../renderer/src/services/webrtc/media/media-columns.tsx";
import { roomRows } from "../../renderer/src/services/webrtc/rooms/room-rows.ts";

it("[WEBRTC-572] the filters of Rooms and Media find a dialect and a session as they are shown", () => {
  const peer = { id: "p1", name: "Ann", remote: "127.0.0.1:1", dialect: "socketio", rooms: [] } as unknown as WebrtcPeerView;
  const found = (text: string) => roomRows({ rooms: [], more: 0 }, { peers: [peer], more: 0 }, text).length > 0;
  expect(["socket.io", "ann", "socketio"].map(found)).toEqual([true, true, false]);
  const leftOut = [{ kind: "audio", codec: "AAC", reason: "" }];
  const session = { state: "waiting", protocol: "whep", path: "test", codecs: "VP8", leftOut, client: "Chrome", remote: "127.0.0.1:2" };
  expect(mediaTexts(session as unknown as WebrtcMediaSessionView)).toBe(
    "waits for ICE plays whep /test VP8 without sound: AAC Chrome 127.0.0.1:2",
  );
});
