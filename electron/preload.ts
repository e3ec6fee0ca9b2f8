import { contextBridge, ipcRenderer } from "electron";
import { commandChannel, downChannel, openRequest, upChannel } from "./ipc-channels.ts";

/** All functions that the shell gives the dashboard. Frames are parsed where they arrive, not here. */
contextBridge.exposeInMainWorld("backlot", {
  open(listener: (frame: unknown) => void): void {
    ipcRenderer.removeAllListeners(downChannel);
    ipcRenderer.on(downChannel, (_event, frame: unknown) => listener(frame));
    ipcRenderer.send(upChannel, openRequest);
  },
  onCommand(listener: (frame: unknown) => void): void {
    ipcRenderer.removeAllListeners(commandChannel);
    ipcRenderer.on(commandChannel, (_event, frame: unknown) => listener(frame));
  },
  post(frame: unknown): void {
    ipcRenderer.send(upChannel, frame);
  },
});
