/** PeerJS' own server, as its README starts it. `node signalling-peerjs.ts PORT` */
import { PeerServer } from "peer";

PeerServer({ port: Number(process.argv[2]), host: "127.0.0.1", path: "/" });
