import { createRoot } from "react-dom/client";
import { standardTestPageCalls } from "../../../../contract/services/webrtc-test-page.ts";
import "virtual:theme.css";
import "./fonts.css";
import { LocalMedia } from "./media/local-media.ts";
import { fetchPage } from "./panels/fetch-page.ts";
import { remembered } from "./panels/remembered.ts";
import { RoomClient } from "./room/room-client.ts";
import { TestPage } from "./test-page.tsx";

const signalling = new URL("/ws", location.href);
signalling.protocol = location.protocol === "https:" ? "wss:" : "ws:";
// A server that does not say it has no limit of its own.
const { calls } = await fetchPage().catch(() => ({ calls: standardTestPageCalls }));
const room = new RoomClient(signalling.href, calls);
const media = new LocalMedia(remembered("name", ""), (stream) => void room.setMedia(stream));
const root = document.getElementById("root");
if (root) createRoot(root).render(<TestPage room={room} media={media} />);
