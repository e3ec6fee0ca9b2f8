import { ActionIcon, Tooltip } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import { useRemembered } from "../../ui/use-remembered.ts";
import { SameAs } from "../try/same-as.tsx";
import { type Language, languages, languageTitles, tryCommands } from "./try-commands.ts";
import type { TryDraft } from "./try-draft.ts";

interface TryCommandsViewProps {
  readonly origin: string;
  readonly draft: TryDraft;
  readonly password: string;
  readonly code: string;
}

const shownLanguages = languages.map((value) => ({ value, label: languageTitles[value] }));

/** Shown without the password; copied with it. */
export function TryCommandsView(props: TryCommandsViewProps) {
  const [language, setLanguage] = useRemembered<Language>("try.account.language", "curl");
  const [revealed, setRevealed] = useState(false);
  const verb = revealed ? "Cover" : "Reveal";
  const text = tryCommands(language, revealed ? props : { ...props, password: "••••••" });
  return (
    <SameAs
      languages={shownLanguages}
      language={language}
      onLanguage={setLanguage}
      text={text}
      copied={() => tryCommands(language, props)}
      copies="the program, with the password"
    >
      <Tooltip label={`${verb} the password`}>
        <ActionIcon aria-label={`${verb} the password in the program`} onClick={() => setRevealed(!revealed)}>
          {revealed ? <IconEyeOff size={14} stroke={1.5} /> : <IconEye size={14} stroke={1.5} />}
        </ActionIcon>
      </Tooltip>
    </SameAs>
  );
}
