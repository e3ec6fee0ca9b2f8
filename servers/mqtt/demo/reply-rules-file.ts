import { readFile, rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { replyRule } from "../../../contract/services/mqtt-reply.ts";
import { writeFileAtomically } from "../../core/files/atomic-file.ts";
import type { Log } from "../../core/service/log.ts";

const savedRules = z.array(replyRule.required({ id: true }));
export type SavedReplyRule = z.output<typeof savedRules>[number];

export interface ReplyRulesFile {
  read(): Promise<readonly SavedReplyRule[]>;
  /** One after the other: the last call's rules are those that stay. */
  write(rules: readonly SavedReplyRule[]): Promise<void>;
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
}

/** Keeps the auto-reply rules over a restart. */
export function createReplyRulesFile(folder: string, log: Log): ReplyRulesFile {
  const file = path.join(folder, "reply-rules.json");
  let writing: Promise<void> = Promise.resolve();
  return {
    async read() {
      try {
        return savedRules.parse(JSON.parse(await readFile(file, "utf8")));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        // The broker is worth more than its rules; what the file holds is left to be looked at.
        const aside = `${file}.unreadable`;
        await rename(file, aside).catch(() => {});
        log.warning(`The auto-reply rules could not be read: there are none now, and the file is kept as ${path.basename(aside)}.`);
        return [];
      }
    },
    write(rules) {
      const written = writing.then(() => writeFileAtomically(file, JSON.stringify(rules, null, 2)));
      writing = written.catch(() => {});
      return written;
    },
    settled: () => writing,
  };
}
