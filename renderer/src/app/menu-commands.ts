import type { RunCommandFrame } from "../../../contract/menu-commands.ts";
import type { PreloadBridge } from "../control/transport.ts";
import { knownCommands, onCommandsChanged, runCommand } from "../ui/commands.ts";

/** Keeps the desktop's menu equal to the command table. Components register theirs with each render, so an unchanged table is not sent. */
export function offerToMenu(bridge: Pick<PreloadBridge, "post" | "onCommand">): void {
  let sent = "[]";
  bridge.onCommand(({ id }: RunCommandFrame) => runCommand(id));
  onCommandsChanged(() => {
    const commands = knownCommands();
    const text = JSON.stringify(commands);
    if (text === sent) return;
    sent = text;
    bridge.post({ type: "commands", commands });
  });
}
