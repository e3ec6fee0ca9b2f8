import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import { CopyButton } from "../components/copy-button.tsx";
import { useRemembered } from "../components/use-remembered.ts";
import styles from "../http/http-try.module.css";
import { type Language, languages, languageTitles, tryCommands } from "./try-commands.ts";
import type { TryDraft } from "./try-draft.ts";

interface TryCommandsViewProps {
  readonly origin: string;
  readonly draft: TryDraft;
  readonly password: string;
  readonly code: string;
}

/** Shown without the password; copied with it. */
export function TryCommandsView(props: TryCommandsViewProps) {
  const [language, setLanguage] = useRemembered<Language>("try.account.language", "curl");
  const [revealed, setRevealed] = useState(false);
  const verb = revealed ? "Cover" : "Reveal";
  const text = tryCommands(language, revealed ? props : { ...props, password: "••••••" });
  return (
    <section className={styles.section} aria-label="The same as a program">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>The same as</h2>
        <span className={styles.check} />
        <SegmentedControl
          aria-label="Language"
          data={languages.map((value) => ({ value, label: languageTitles[value] }))}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
        <Tooltip label={`${verb} the password`}>
          <ActionIcon aria-label={`${verb} the password in the program`} onClick={() => setRevealed(!revealed)}>
            {revealed ? <IconEyeOff size={14} stroke={1.5} /> : <IconEye size={14} stroke={1.5} />}
          </ActionIcon>
        </Tooltip>
        <CopyButton text={() => tryCommands(language, props)} what="the program, with the password" size={24} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <pre className={styles.command} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
