/** The page's commands in the desktop's application menu. They cross the channel of the frames in `wire.ts`. */
import { z } from "zod";

/** Shortcuts that run a command. */
const commandKeys = ["logs", "filter", "pause", "send"] as const;
export type CommandKey = (typeof commandKeys)[number];

const menuCommand = z.strictObject({
  id: z.string().min(1).max(100),
  title: z.string().min(1).max(200),
  key: z.enum(commandKeys).optional(),
  enabled: z.boolean(),
});
export type MenuCommand = z.output<typeof menuCommand>;

/** Sent up, parsed on arrival: all commands of the page, whenever one of them changes. */
export const commandsFrame = z.strictObject({ type: z.literal("commands"), commands: z.array(menuCommand).max(200) });
export type CommandsFrame = z.output<typeof commandsFrame>;

/** Sent down: this one was chosen. */
export interface RunCommandFrame {
  readonly type: "runCommand";
  readonly id: string;
}
