import { createRoot } from "react-dom/client";
import "virtual:theme.css";
import "./fonts.css";
import { LocalMedia } from "./media/local-media.ts";
import { remembered } from "./panels/remembered.ts";
import { RoomClient } from "./room/room-client.ts";
import { TestPage } from "./test-page.tsx";

const signalling = new URL("/ws", location.href);
signalling.protocol = location.protocol === "https:" ? "wss:" : "ws:";
const room = new RoomClient(signalling.href);
const media = new LocalMedia(remembered("name", ""), (stream) => void room.setMedia(stream));
const root = document.getElementById("root");
if (root) createRoot(root).render(<TestPage room={room} media={media} />);
