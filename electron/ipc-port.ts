import type { IpcMain, IpcMainEvent, WebContents } from "electron";
import { isLargerThan } from "../contract/frame-size.ts";
import { commandsFrame, type MenuCommand } from "../contract/menu-commands.ts";
import { type DownFrame, maxFrameBytes, type Port } from "../contract/wire.ts";
import { isDashboard } from "./dashboard-address.ts";
import { downChannel, openRequest, upChannel } from "./ipc-channels.ts";

export interface IpcPortOptions {
  readonly ipcMain: IpcMain;
  /** The dashboard's page, if its window is open. */
  readonly contents: () => WebContents | undefined;
  /** Serves a client until its port closes; parses each frame, and calls `reject` for an invalid one. */
  readonly attach: (port: Port<DownFrame, unknown>, reject: () => void) => void;
  /** The page's commands; none once its connection is closed. */
  readonly onCommands: (commands: readonly MenuCommand[]) => void;
  readonly warn: (text: string) => void;
}

interface Client {
  deliver(frame: unknown): void;
  close(): void;
}

/** Connects the page that loaded last; a page that reloads is a new client, and the previous one is closed. */
export function serveIpc({ ipcMain, contents, attach, onCommands, warn }: IpcPortOptions): void {
  let client: Client | undefined;

  function open(page: WebContents): Client {
    const onFrame: ((frame: unknown) => void)[] = [];
    const onClose: (() => void)[] = [];
    let closed = false;
    function close() {
      if (closed) return;
      closed = true;
      page.off("destroyed", close);
      page.off("render-process-gone", close);
      onCommands([]);
      for (const listener of onClose) listener();
    }
    page.on("destroyed", close);
    page.on("render-process-gone", close);
    attach(
      {
        post: (frame) => {
          if (!closed && !page.isDestroyed()) page.send(downChannel, frame);
        },
        onFrame: (listener) => void onFrame.push(listener),
        onClose: (listener) => void onClose.push(listener),
      },
      () => refuse("an invalid frame"),
    );
    function refuse(what: string) {
      warn(`The dashboard sent ${what}: its connection is closed`);
      close();
    }
    return {
      deliver(frame) {
        if (closed) return;
        if (isLargerThan(frame, maxFrameBytes)) {
          refuse("a frame that is too large");
          return;
        }
        const commands = commandsFrame.safeParse(frame);
        if (commands.success) onCommands(commands.data.commands);
        else for (const listener of onFrame) listener(frame);
      },
      close,
    };
  }

  ipcMain.on(upChannel, (event, message: unknown) => {
    const page = contents();
    if (!page || !isFrom(page, event)) {
      warn("Refused a message from a page that is not the dashboard");
      return;
    }
    if (message === openRequest) {
      client?.close();
      client = open(page);
    } else {
      client?.deliver(message);
    }
  });
}

/** Accepts messages of the window's top frame only; a frame that no longer exists has no address to check. */
const isFrom = (page: WebContents, { sender, senderFrame }: IpcMainEvent) =>
  sender === page && senderFrame !== null && senderFrame.parent === null && isDashboard(senderFrame.url);
