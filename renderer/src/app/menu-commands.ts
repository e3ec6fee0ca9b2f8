import type { RunCommandFrame } from "../../../contract/menu-commands.ts";
import type { PreloadBridge } from "../control/transport.ts";
import { knownCommands, runCommand } from "../ui/commands.ts";

const checkMs = 500;

/** Keeps the desktop's menu equal to the command table. What can be run changes without an event, so the table is compared. */
export function offerToMenu(bridge: Pick<PreloadBridge, "post" | "onCommand">): void {
  let sent = "[]";
  bridge.onCommand(({ id }: RunCommandFrame) => runCommand(id));
  setInterval(() => {
    const commands = knownCommands();
    const text = JSON.stringify(commands);
    if (text === sent) return;
    sent = text;
    bridge.post({ type: "commands", commands });
  }, checkMs);
}
