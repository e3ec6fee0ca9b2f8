/** Signals as most examples of Socket.IO pass them on, without rooms, records and limits. `node signalling-socketio.ts PORT` */
import { createServer } from "node:http";
import { Server } from "socket.io";

const server = createServer();
const io = new Server(server, { serveClient: false });
io.on("connection", (socket) => {
  socket.on("signal", (data: { readonly to?: string }) => {
    const receivers = data.to === undefined ? socket.broadcast : io.to(data.to);
    receivers.emit("signal", { ...data, from: socket.id });
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", 2_048);
