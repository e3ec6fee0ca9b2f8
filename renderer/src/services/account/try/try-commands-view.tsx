import { z } from "zod";
import { useReveal } from "../../../ui/forms/secret-text.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { SameAs } from "../../try/same-as.tsx";
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
  const [language, setLanguage] = useRemembered<Language>("try.account.language", "curl", z.enum(languages));
  const { revealed, button } = useReveal("the password in the program");
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
      {button}
    </SameAs>
  );
}
